// A separate file because cross-spawn is CommonJS: the bundler's loader for it is then not loaded elsewhere.
import type { ChildProcess, SpawnOptions } from "node:child_process";
import crossSpawn from "cross-spawn";
import { findProgram } from "./find-program.ts";

interface WindowsSpawnOptions extends SpawnOptions {
  cwd?: string | undefined;
  env: Record<string, string | undefined>;
}

/**
 * Starts a program by its full path. By its name alone, the library, the command interpreter and the system would each
 * look into the working folder before PATH, and run a file that another person put there.
 */
export function spawnOnWindows(command: string, args: readonly string[], options: WindowsSpawnOptions): ChildProcess {
  const { env, cwd } = options;
  const file = findProgram(command, { env, cwd, platform: "win32" });
  if (file === undefined) throw Object.assign(new Error(`${command} was not found on PATH`), { code: "ENOENT" });
  return crossSpawn(file, [...args], options);
}
