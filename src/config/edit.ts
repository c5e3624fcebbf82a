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
  | { kind: "add"; name: string; entry: ServerEntry }
  | { kind: "remove"; id: string }
  | { kind: "enable"; id: string }
  | { kind: "disable"; id: string };

/** Edits a configuration file in place; its comments, its order and its permissions stay. */
export async function editFile(file: string, edit: ServerEdit): Promise<void> {
  const text = (await loadText(file)) ?? "";
  await replaceFile(file, await editText(text, file, edit));
}

/** The text of a file after an edit. */
export async function editText(text: string, file: string, edit: ServerEdit): Promise<string> {
  const format = formatOf(file);
  if (format === "toml") throw refused(file, "TOML files are read, not edited", "Edit the file by hand.");
  const changes = changesFor(edit, await parseSource(text, file), file);
  if (format === "yaml") return (await import("./yaml-edit.ts")).editYaml(text, changes);
  return (await import("./json-edit.ts")).editJson(text, changes);
}

function changesFor(edit: ServerEdit, root: SourceNode, file: string): Change[] {
  const { servers } = findServers(root, file);
  if (edit.kind === "add") return [additionTo(root, servers, { file, ...edit })];
  const server = servers.find((found) => idOf(found) === edit.id);
  if (!server) throw refused(file, `There is no server "${edit.id}" in the file`);
  if (edit.kind === "remove") return [{ path: server.path, value: undefined }];
  return switching(server, edit.kind === "enable");
}

interface Addition {
  file: string;
  name: string;
  entry: ServerEntry;
}

function additionTo(root: SourceNode, servers: readonly FoundServer[], { file, name, entry }: Addition): Change {
  const id = serverId(name);
  if (servers.some((found) => idOf(found) === id)) {
    throw refused(file, `There is a server "${id}" in the file already`, "Remove it first, or take another name.");
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
