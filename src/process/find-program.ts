import { accessSync, constants, statSync } from "node:fs";
import { join, resolve, sep, win32 } from "node:path";
import { isAbsolutePath } from "../files/paths.ts";

interface ProgramSearch {
  /** The environment in which the program would be started. */
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  cwd?: string | undefined;
}

/**
 * The file that a command starts; undefined if there is none that can be executed. A name without a path is looked for
 * in the absolute folders of PATH, and never in the working folder, where Windows would look first: its files may come
 * from others.
 */
export function findProgram(command: string, { env, platform, cwd = "." }: ProgramSearch): string | undefined {
  const isWindows = platform === "win32";
  const isPath = command.includes("/") || (isWindows && command.includes("\\"));
  const bases = isPath ? [resolve(cwd, command)] : foldersOf(env, platform).map((folder) => join(folder, command));
  const endings = isWindows ? endingsFor(command, env) : [[""]];
  return endings
    .flatMap((some) => bases.flatMap((base) => some.map((ending) => base + ending)))
    .find((file) => isProgram(file, isWindows));
}

/** By name, ignoring the case on Windows, which usually writes "Path". */
function variable(env: ProgramSearch["env"], name: string, isWindows: boolean): string | undefined {
  return Object.entries(env).find(([key]) => (isWindows ? key.toUpperCase() : key) === name)?.[1];
}

/** The folders that are searched for programs: absolute paths only. */
export function foldersOf(env: ProgramSearch["env"], platform: NodeJS.Platform): string[] {
  const isWindows = platform === "win32";
  const path = variable(env, "PATH", isWindows) ?? "";
  // In tests that simulate Windows, paths of the real system are absolute too.
  const isFull = (folder: string) => (sep === "/" && folder.startsWith("/")) || isAbsolutePath(folder, platform);
  return path.split(isWindows ? ";" : ":").filter(isFull);
}

/** The extensions to try, in order. No extension comes last: beside "npx.cmd" there is an "npx" for other shells. */
function endingsFor(command: string, env: ProgramSearch["env"]): string[][] {
  const known = (variable(env, "PATHEXT", true) ?? ".COM;.EXE;.BAT;.CMD").split(";").filter((ending) => ending !== "");
  const isWhole = known.some((ending) => command.toUpperCase().endsWith(ending.toUpperCase()));
  return isWhole ? [["", ...known]] : [known, [""]];
}

function isProgram(file: string, isWindows: boolean): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    if (!isWindows) accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The full path of a program of Windows: a program started by its name alone is looked for in the working folder first.
 * A `SystemRoot` that is not an absolute path is ignored.
 */
export function windowsProgram(name: string, variables: Readonly<Record<string, string | undefined>> = {}): string {
  const [, root] = Object.entries(variables).find(([key]) => key.toUpperCase() === "SYSTEMROOT") ?? [];
  return win32.join(isAbsolutePath(root, "win32") ? root : "C:\\Windows", "System32", name);
}
