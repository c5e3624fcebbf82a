import { accessSync, constants, statSync } from "node:fs";
import { posix, win32 } from "node:path";

export interface ProgramSearch {
  /** The environment that the program would be started in. */
  env: Readonly<Record<string, string>>;
  platform: NodeJS.Platform;
  cwd?: string | undefined;
}

/** The file that a command starts, looked for as the system does; undefined where there is none that may be run. */
export function findProgram(command: string, { env, platform, cwd = "." }: ProgramSearch): string | undefined {
  const isWindows = platform === "win32";
  const path = isWindows ? win32 : posix;
  const isPath = path.isAbsolute(command) || command.includes("/") || (isWindows && command.includes("\\"));
  const bases = isPath
    ? [path.resolve(cwd, command)]
    : pathOf(env, isWindows, path.delimiter).map((folder) => path.join(folder, command));
  const endings = isWindows ? ["", ...(env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";")] : [""];
  return bases.flatMap((base) => endings.map((ending) => base + ending)).find((file) => isProgram(file, isWindows));
}

function pathOf(env: Readonly<Record<string, string>>, isWindows: boolean, delimiter: string): string[] {
  // Windows spells it "Path", mostly.
  const [, path = ""] = Object.entries(env).find(([name]) => (isWindows ? name.toUpperCase() : name) === "PATH") ?? [];
  return path.split(delimiter).filter((folder) => folder !== "");
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
