import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Tests start built servers as child processes. `npm test` builds first; a bare `vitest` builds what is missing. */
export default function setup(): void {
  const built = ["dist/index.js", "dist/demo/main.js", "build/fixtures/everything.js"];
  if (!built.every((file) => existsSync(file))) execFileSync("npm", ["run", "build"], { stdio: "inherit" });
}
