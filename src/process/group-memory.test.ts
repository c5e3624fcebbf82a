import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { groupMemory } from "./memory-watch.ts";
import { signalTree } from "./process-tree.ts";

const MEASURED = process.platform === "linux" || process.platform === "darwin";
/** Says when it, and the process it starts, have taken their memory. */
const PROGRAM = `const child = require("node:child_process").spawn(process.execPath, ["-e", \`globalThis.own = Buffer.alloc(60e6, 1); console.log("ready"); setInterval(() => {}, 1e6)\`], { stdio: ["ignore", "inherit", "inherit"] });`;

test.runIf(MEASURED)("the memory of a process counts with that of the processes it started", async () => {
  const child = spawn(process.execPath, ["-e", PROGRAM], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const { pid = 0 } = child;
  try {
    await once(child.stdout, "data");
    const bytes = (await groupMemory([pid], process.platform))?.get(pid) ?? 0;
    // Two processes of Node, and what one of them took.
    expect(bytes).toBeGreaterThan(110e6);
    expect(bytes).toBeLessThan(1e9);
    expect((await groupMemory([pid + 1_000_000], process.platform))?.size).toBe(0);
  } finally {
    signalTree(pid, "SIGKILL");
    await once(child, "close");
  }
});

test("where the system does not tell, there is no measurement", async () => {
  expect(await groupMemory([1], "win32")).toBeUndefined();
});
