import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathInside } from "../../files/paths.ts";
import { looksRelative } from "../../config/import/relative-words.ts";
import { serverId } from "../../text/server-id.ts";
import type { Candidate } from "../../config/read/places.ts";
import { misplacedIn } from "../../config/read/variables.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { nodeOf } from "../../source/source-node.ts";
import { resolveEntry, type ServerEntry } from "../../transport/server-entry.ts";
import { wrongUsage } from "../command/command-line.ts";
import { inPlaceEntry, pairs, requireAddress } from "../command/in-place.ts";

export interface EntryOptions {
  url?: string | undefined;
  stdio?: string | undefined;
  /** The path of a tool file. */
  api?: string | undefined;
  upstream?: string | undefined;
  setting?: readonly string[] | undefined;
  env?: readonly string[] | undefined;
  header?: readonly string[] | undefined;
  cwd?: string | undefined;
  root?: readonly string[] | undefined;
  pin?: boolean | undefined;
  disabled?: boolean | undefined;
}

/** The entry for the file, checked: an invalid one is not written. */
export function newEntry(
  name: string,
  command: readonly string[],
  options: EntryOptions & { target: Candidate; from: string },
): ServerEntry {
  const { url, stdio, api, upstream, cwd, root, pin, disabled, target, from } = options;
  const ways = { "a command": command[0], "--stdio": stdio, "--url": url, "--api": api };
  const given = Object.entries(ways).flatMap(([way, value]) => (value === undefined ? [] : [way]));
  if (given.length > 1) throw wrongUsage(`${given.join(" and ")} cannot be used together`, "Use one of them.");
  if (given.length === 0) throw wrongUsage(`The command or URL of "${name}" is missing`, howTo(name));
  if (url !== undefined) requireAddress(url);
  if (url !== undefined && cwd !== undefined) throw wrongUsage("--cwd requires a command, not --url");
  if (api !== undefined && cwd !== undefined) throw wrongUsage("--cwd requires a command, not --api");
  if (api === undefined && upstream !== undefined) throw wrongUsage("--upstream requires --api");
  if (api === undefined && options.setting) throw wrongUsage("--setting requires --api");

  const [program, ...args] = command;
  // Words after -- are already split.
  const described = inPlaceEntry({ ...options, stdio: program === undefined ? stdio : "command" });
  const entry = {
    ...described,
    ...(program === undefined ? {} : { command: program, args }),
    api: api === undefined ? undefined : pathFor(api, target, from),
    upstream,
    settings: pairs(options.setting, "=", "--setting name=value"),
    cwd: cwd === undefined ? undefined : pathFor(cwd, target, from),
    roots: root?.map((folder) => (isFileUri(folder) ? folder : pathFor(folder, target, from))),
    pin: pin ? true : undefined,
    enabled: disabled ? false : undefined,
  };
  const written = Object.fromEntries(Object.entries(entry).filter(([, value]) => !isNothing(value))) as ServerEntry;
  const bound = target.layer === "user" && isHere(written, from) ? { ...written, cwd: from } : written;
  resolveEntry({ ...bound, id: serverId(name) });
  const [misplaced] = misplacedIn(nodeOf(bound), [], { inputs: [] });
  if (misplaced) {
    throw new NexusError("CONFIG_INVALID", `Server "${serverId(name)}": ${misplaced.what}. Nothing was added`, {
      phase: "config",
      server: serverId(name),
      hint: misplaced.hint,
      mayHaveReached: false,
    });
  }
  return bound;
}

/** The path of the tool file of --api. */
export async function findApi(given: string | undefined, cwd: string): Promise<string | undefined> {
  if (given === undefined) return undefined;
  const { findToolFile } = await import("../api/find-tool-file.ts");
  return findToolFile(given, { cwd });
}

/** Whether the command names files of this folder: the server would run in the home folder, where they do not exist. */
function isHere(entry: ServerEntry, folder: string): boolean {
  return looksRelative(entry).some((word) => existsSync(resolve(folder, word)));
}

function howTo(name: string): string {
  return `Use nexus mcp add ${name} -- COMMAND ARG…, or --url URL, or --api API. (In PowerShell, quote it: '--'.)`;
}

/** Relative in a project's file, which moves with its folder; absolute in the user's file. */
function pathFor(path: string, { layer, folder }: Candidate, from: string): string {
  if (/^~|^\$\{/.test(path)) return path;
  const absolute = resolve(from, path);
  const inside = layer === "project" ? pathInside(absolute, folder) : undefined;
  return inside === undefined ? absolute : inside.replaceAll("\\", "/") || ".";
}

function isNothing(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Throws for what is no folder: an empty word, of a variable that is not set, would be the working folder. */
function isFileUri(root: string): boolean {
  if (root === "") throw wrongUsage("--root is empty", "Use --root . for the working folder.");
  if (!/^(?:file:|[a-z][a-z\d+.-]+:\/\/)/i.test(root)) return false;
  if (/^file:\/\/\/[^%]*(?:%(?!00)[\da-f]{2}[^%]*)*$/i.test(root)) return true;
  throw wrongUsage(
    `--root ${JSON.stringify(root)} is not a folder`,
    "Use --root DIR, or a URI such as file:///home/me/work.",
  );
}
