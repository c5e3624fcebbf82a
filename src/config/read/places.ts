import { posix, win32 } from "node:path";
import { userFolders } from "../../files/user-folders.ts";
import type { Layer } from "./server-definition.ts";

/** What the locations of configuration files depend on. */
export interface ConfigContext {
  cwd: string;
  home: string;
  platform: NodeJS.Platform;
  variables: Readonly<Record<string, string | undefined>>;
}

/** A file that configures servers, if it exists. */
export interface Candidate {
  file: string;
  layer: Layer;
  /** The folder to which it belongs. */
  folder: string;
}

const NAMES = ["mcp.json", "mcp.yaml", "mcp.yml"];

/** All files that may configure servers, the strongest first. */
export function candidates(surroundings: ConfigContext): Candidate[] {
  const { cwd, home, platform } = surroundings;
  const path = pathOf(platform);
  const users = [path.join(home, ".nexus"), path.join(userFolders(surroundings).config, "nexus")].flatMap((folder) => {
    return NAMES.map((name): Candidate => ({ file: path.join(folder, name), layer: "user", folder: cwd }));
  });
  const others = foldersUpFrom(path.resolve(cwd), path).flatMap((folder, index) => {
    return filesIn(folder, path).map((file): Candidate => {
      return { file, layer: index === 0 ? "project" : "ancestor", folder };
    });
  });
  // If the home folder is above the working folder, its files are the user's.
  const own = new Set(users.map(({ file }) => file));
  return [...others.filter(({ file }) => !own.has(file)), ...users];
}

/** The folder of a project's file, which may be in a subfolder. */
export function projectFolderOf(file: string, path: typeof posix): string {
  const folder = path.dirname(file);
  return path.basename(folder) === ".nexus" ? path.dirname(folder) : folder;
}

export function pathOf(platform: NodeJS.Platform): typeof posix {
  return platform === "win32" ? win32 : posix;
}

function filesIn(folder: string, path: typeof posix): string[] {
  return [
    ...NAMES.map((name) => path.join(folder, ".nexus", name)),
    path.join(folder, ".mcp.json"),
    path.join(folder, "nexus.yaml"),
    path.join(folder, "nexus.yml"),
  ];
}

function foldersUpFrom(folder: string, path: typeof posix): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUpFrom(parent, path)];
}
