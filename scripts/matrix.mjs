// npm run matrix
// Tries every cell of the compatibility matrix (test/matrix), then writes docs/compatibility.md from its definition.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

const tried = run(["test/matrix/matrix.test.ts", "test/matrix/able-servers.test.ts", "--reporter=dot"]);
// The page says that every cell was seen to work: it is not written when one was not.
process.exitCode = tried === 0 ? run(["test/matrix/table.test.ts", "--update"]) : tried;

function run(args) {
  const env = { ...process.env, NEXUS_MATRIX: "all" };
  return spawnSync(process.execPath, [vitest, "run", ...args], { cwd: root, env, stdio: "inherit" }).status ?? 1;
}
