import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { candidates, type Candidate, type ConfigContext } from "../../config/read/places.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";

/** Options of commands that write into a configuration file. */
export const TARGET = {
  project: { type: "boolean", help: "write to the project's file in this folder instead of your own" },
  file: { type: "string", value: "FILE", help: "write to this file" },
} as const satisfies Options;

interface Wish {
  project?: boolean | undefined;
  file?: string | undefined;
  /** The flag --config: its file is also the one to write. */
  config: string | undefined;
}

/** The file for a new server: a named one, the project's or the user's; existing files are preferred. */
export async function targetFile({ project, file, config }: Wish, surroundings: ConfigContext): Promise<Candidate> {
  const named = file ?? config;
  if (named !== undefined && project)
    throw wrongUsage("--project and --file cannot be used together", "Use one of them.");
  const places = candidates(surroundings);
  const { cwd, home } = surroundings;
  if (named !== undefined) {
    const path = resolve(cwd, named);
    const known = places.find((place) => place.file === path);
    return known ?? { file: path, layer: "explicit", folder: dirname(path) };
  }
  const layer = project ? "project" : "user";
  for (const place of places) if (place.layer === layer && (await isThere(place.file))) return place;
  return { file: join(project ? cwd : home, ".nexus", "mcp.json"), layer, folder: cwd };
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
