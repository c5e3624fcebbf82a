import { readdirSync } from "node:fs";
import { foldersOf } from "./find-program.ts";

export interface SearchPath {
  env: Readonly<Record<string, string>>;
  platform: NodeJS.Platform;
}

const MAX_FOLDERS = 100;

/**
 * The names of programs that can be started without a path. Reads all of PATH, so it is used only after a program was
 * not found.
 */
export function programsOnPath({ env, platform }: SearchPath): string[] {
  const isWindows = platform === "win32";
  const folders = [...new Set(foldersOf(env, platform))].slice(0, MAX_FOLDERS);
  const names = folders.flatMap(namesIn);
  const programs = isWindows ? names.flatMap((name) => withoutEnding(name, env["PATHEXT"])) : names;
  return [...new Set(programs)].sort();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Folders of PATH that do not exist are common and harmless.
    return [];
  }
}

/** On Windows, "npx.cmd" is called "npx"; files without such an extension are not programs. */
function withoutEnding(name: string, endings = ".COM;.EXE;.BAT;.CMD"): string[] {
  const ending = endings.split(";").find((one) => one !== "" && name.toUpperCase().endsWith(one.toUpperCase()));
  return ending === undefined ? [] : [name.slice(0, -ending.length)];
}
