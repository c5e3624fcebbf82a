import { randomBytes } from "node:crypto";
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { NexusError } from "../errors/nexus-error.ts";
import type { ServerEntry } from "../transport/server-entry.ts";
import type { Change } from "./change.ts";
import { idOf } from "./define-server.ts";
import { findServers, type FoundServer } from "./find-servers.ts";
import { formatOf, loadText, parseSource } from "./read-source.ts";
import { serverId } from "./server-id.ts";
import { findMember, type SourceNode } from "./source-node.ts";

/** What to do with a server of a file. */
export type ServerEdit =
  | { kind: "add"; name: string; entry: ServerEntry; replace?: boolean | undefined }
  | { kind: "remove"; id: string }
  | { kind: "enable"; id: string }
  | { kind: "disable"; id: string };

/** The text of a file before and after it was edited. */
export interface EditedFile {
  /** Undefined where there was none. */
  before: string | undefined;
  after: string;
}

/** Edits a configuration file in place, all edits or none; its comments, its order and its permissions stay. */
export async function editFile(file: string, ...edits: readonly ServerEdit[]): Promise<EditedFile> {
  const before = await loadText(file);
  let after = before ?? "";
  for (const edit of edits) after = await editText(after, file, edit);
  if (after !== before) await replaceFile(file, after);
  return { before, after };
}

/** The text of a file after an edit. */
export async function editText(text: string, file: string, edit: ServerEdit): Promise<string> {
  const format = formatOf(file);
  if (format === "toml") throw refused(file, "TOML files are read, not edited", byHand(edit));
  const changes = changesFor(edit, await parseSource(text, file), file);
  if (format === "yaml") return (await import("./yaml-edit.ts")).editYaml(text, changes);
  return (await import("./json-edit.ts")).editJson(text, changes);
}

function changesFor(edit: ServerEdit, root: SourceNode, file: string): Change[] {
  const { servers } = findServers(root, file);
  if (edit.kind === "add") return [additionTo(root, servers, { file, ...edit })];
  const [server, another] = servers.filter((found) => idOf(found) === edit.id);
  if (!server) throw refused(file, `There is no server "${edit.id}" in the file`);
  if (another) {
    const lines = `lines ${server.place.line} and ${another.place.line}`;
    throw refused(file, `The file has two servers "${edit.id}", in ${lines}`, "Rename or delete one of them by hand.");
  }
  if (edit.kind === "remove") return [{ path: server.path, value: undefined }];
  return switching(server, edit.kind === "enable");
}

interface Addition {
  file: string;
  name: string;
  entry: ServerEntry;
  replace?: boolean | undefined;
}

function additionTo(root: SourceNode, servers: readonly FoundServer[], addition: Addition): Change {
  const { file, name, entry, replace } = addition;
  const id = serverId(name);
  const same = servers.find((found) => idOf(found) === id);
  if (same && replace) {
    const isItem = typeof same.path.at(-1) === "number";
    return { path: same.path, value: isItem ? { id: same.name ?? name, ...entry } : entry };
  }
  if (same) {
    const hint = `Remove it first (nexus mcp remove ${id}), replace it with --force, or take another name.`;
    throw refused(file, `There is a server "${id}" in the file already`, hint);
  }
  for (const path of [["mcpServers"], ["servers"], ["mcp", "servers"]]) {
    const node = path.reduce<SourceNode | undefined>((at, key) => findMember(at, key)?.node, root);
    if (node?.kind === "list") return { path: [...path, node.items.length], value: { ...entry, id: name } };
    if (node?.kind === "object") return { path: [...path, name], value: entry };
  }
  return { path: ["mcpServers", name], value: entry };
}

/** An entry says `enabled` or `disabled`; which one it has stays, and what is the default is not said. */
function switching({ node, path }: FoundServer, on: boolean): Change[] {
  const spoken = findMember(node, "disabled") ? "disabled" : "enabled";
  const value = spoken === "disabled" ? !on : on;
  const isDefault = on && spoken === "enabled";
  return [{ path: [...path, spoken], value: isDefault ? undefined : value }].filter((change) => {
    return change.value !== undefined || findMember(node, spoken) !== undefined;
  });
}

/** What to do with a file that is not edited here. */
function byHand(edit: ServerEdit): string {
  if (edit.kind === "add") return "Add the server to a JSON or YAML file, or write it into this one by hand.";
  if (edit.kind === "remove") return `Delete the table of "${edit.id}" by hand.`;
  return `Write "enabled = ${edit.kind === "enable"}" into the table of "${edit.id}" by hand.`;
}

async function replaceFile(file: string, text: string): Promise<void> {
  // A link, as people with dotfiles have, stays a link.
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (facts) => facts.mode & 0o777,
    () => 0o600,
  );
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, text, { flag: "wx", mode, flush: true });
    await chmod(temporary, mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function refused(file: string, message: string, hint?: string): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", source: { file }, hint, mayHaveReached: false });
}
