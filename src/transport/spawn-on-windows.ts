// A file of its own because cross-spawn is CommonJS: what the bundler needs to load that is not loaded elsewhere.
export { default as spawnOnWindows } from "cross-spawn";
