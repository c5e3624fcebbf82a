import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const PROGRAM = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
// Not maxRSS: on Linux it also counts the process that started this one.
const MEASURE = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync, writeSync } from "node:fs"; import { isMainThread } from "node:worker_threads";
  if (isMainThread) process.on("exit", () => { const { user, system } = process.cpuUsage();
  const peak = /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
  writeSync(2, "\\nUSED " + JSON.stringify({ mb: Number(peak?.[1]) / 1024, cpuMs: (user + system) / 1000 })); });`,
)}`;

/** Imports a document in a process of its own, and says what it cost. Time is that of the processor: machines are busy. */
export async function measuredImport(folder: string, name: string, content: string | Uint8Array) {
  const file = join(folder, name);
  await writeFile(file, content);
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const args = ["--import", MEASURE, PROGRAM, "api", "import", file, "--name", "bomb", "--dry-run"];
    execFile(process.execPath, args, { cwd: folder, timeout: 60_000, maxBuffer: 1 << 26 }, (error, _, written) =>
      resolve({ code: error ? error.code : 0, stderr: written }),
    );
  });
  const used = JSON.parse(/USED (\{[^}]*\})/.exec(stderr)?.[1] ?? "{}") as { mb: number; cpuMs: number };
  return { code, stderr, ...used };
}
