// A file of its own because yaml is CommonJS: what the bundler needs to load that is not loaded with every client.
export { parse as parseYaml } from "yaml";
