import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { toAbsolutePath } from "../../files/paths.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { understand } from "../read/dialect.ts";
import { idOf } from "../define-server.ts";
import { findServers, type FoundServer, type InputDefinition } from "../read/find-servers.ts";
import { type ConfigContext, candidates, pathOf } from "../read/places.ts";
import { loadText, MAX_CLIENT_BYTES, parseSource } from "../read/read-source.ts";
import {
  findMember,
  plainValue,
  type Place,
  type SourceNode,
  allAt,
  nodeOf,
  type Member,
} from "../../source/source-node.ts";
import { splitShellWords } from "../../text/shell-words.ts";
import { CLIENTS, CLIENT_IDS, clientFolders, type ClientId } from "./clients.ts";

/** A server found in another program's configuration. */
export interface ImportedServer {
  id: string;
  /** The name in that program. */
  name: string;
  /** In the keys of Nexus, with unresolved variables: ready to be added to a file. */
  entry: ServerEntry;
  client: ImportPlace["client"];
  scope: ImportPlace["scope"];
  /** Its project folder, if a user's file has servers for single folders. */
  project?: string | undefined;
  source: Place & { file: string };
  /** The inputs of its `${input:id}`. */
  inputs: readonly InputDefinition[];
}

export interface Import {
  servers: ImportedServer[];
  /** Files that could not be read; the others were. */
  problems: NexusError[];
}

/**
 * All servers that other programs have configured here, or those of one file. Starts nothing and resolves no variables.
 */
export async function findImports(surroundings: ConfigContext, only?: ImportPlace): Promise<Import> {
  const result: Import = { servers: [], problems: [] };
  if (only && !existsSync(only.file)) throw missing(only.file);
  for (const place of only ? [only] : importPlaces(surroundings)) {
    try {
      const text = await loadText(place.file, place.scope === "user" ? { maxBytes: MAX_CLIENT_BYTES } : {});
      if (text !== undefined) result.servers.push(...serversIn(await parseSource(text, place.file), place));
    } catch (error) {
      const problem = asNexusError(error).with({ source: { file: place.file } });
      if (only) throw problem;
      result.problems.push(problem);
    }
  }
  return result;
}

function missing(file: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The file ${file} does not exist`, {
    phase: "config",
    source: { file },
    hint: "Check the path, and that you may read its folder.",
    mayHaveReached: false,
  });
}

function serversIn(root: SourceNode, place: ImportPlace): ImportedServer[] {
  const { servers, inputs } = findServers(root, place.file);
  const general = servers.flatMap((found) => imported(found, { ...place, inputs }));
  // Claude Code has servers of single folders in the user's file.
  if (place.client !== "claude-code" && place.client !== "file") return general;
  const projects = findMember(root, "projects")?.node;
  if (projects?.kind !== "object") return general;
  return [
    ...general,
    ...projects.members.flatMap(({ key: project, node }) => {
      const servers = findMember(node, "mcpServers");
      const only: SourceNode = { kind: "object", place: node.place, members: servers ? [servers] : [] };
      return findServers(only, place.file).servers.flatMap((found) => {
        return imported(found, { ...place, inputs }).map((server): ImportedServer => ({ ...server, project }));
      });
    }),
  ];
}

type Whole = ImportPlace & { inputs: readonly InputDefinition[] };

function imported(found: FoundServer, { client, file, scope, inputs }: Whole): ImportedServer[] {
  const { node, extra } = understand(inOwnDialect(found.node, client), found.section.dialect);
  const entry = plainValue(withAbsoluteFiles(node, dirname(file)));
  if (!isRecord(entry) || found.name === undefined) return [];
  // Checked when it is used, like every entry of a file.
  const whole = { ...entry, ...extra } as ServerEntry;
  const asked = new Set([...JSON.stringify(entry).matchAll(/\$\{input:([\w.-]+)/g)].map(([, id]) => id));
  return [
    {
      id: idOf(found),
      name: found.name,
      entry: whole,
      client,
      scope,
      source: { file, ...found.place },
      inputs: inputs.filter(({ id }) => asked.has(id)),
    },
  ];
}

/** `${file:path}` is relative to its file, which will be a different one. */
function withAbsoluteFiles(node: SourceNode, folder: string): SourceNode {
  if (node.kind === "list") return { ...node, items: node.items.map((item) => withAbsoluteFiles(item, folder)) };
  if (node.kind === "object") {
    const members = node.members.map((member) => ({ ...member, node: withAbsoluteFiles(member.node, folder) }));
    return { ...node, members };
  }
  if (typeof node.value !== "string") return node;
  const value = node.value.replaceAll(/\$\{file:(?!~)([^{}]+)\}/g, (_all, path: string) => {
    return `\${file:${toAbsolutePath(path, { home: "", base: folder })}}`;
  });
  return { ...node, value };
}

/** An entry of another program, with its differences converted to the meaning in Nexus. */
function inOwnDialect(node: SourceNode, client: ImportPlace["client"]): SourceNode {
  const dialect = client === "file" ? {} : (CLIENTS[client].dialect ?? {});
  const { variables, countsSeconds, hasCommandLines, renamed = {}, dropped = [] } = dialect;
  const written = variables ? withTexts(node, (text) => text.replaceAll(variables, "${$1}")) : node;
  if (written.kind !== "object") return written;
  const splits = hasCommandLines && !written.members.some(({ key }) => key === "args");
  const members = written.members
    .filter(({ key }) => !dropped.includes(key))
    .map((member): Member => {
      const key = (Object.hasOwn(renamed, member.key) ? renamed[member.key] : undefined) ?? member.key;
      if (key === "timeout" && countsSeconds) return inMilliseconds(member);
      return key === "command" && splits ? inWords(member) : { ...member, key };
    });
  return { ...written, members };
}

/** A command line, as a list of its words. */
function inWords(member: Member): Member {
  const { node } = member;
  if (node.kind !== "scalar" || typeof node.value !== "string" || !/\s/.test(node.value.trim())) return member;
  const { words } = splitShellWords(node.value, process.platform);
  return { ...member, node: nodeOf(words, allAt(node.place)) };
}

function inMilliseconds(member: Member): Member {
  const { node } = member;
  if (node.kind !== "scalar" || typeof node.value !== "number") return member;
  return { ...member, node: nodeOf(node.value * 1_000, allAt(node.place)) };
}

function withTexts(node: SourceNode, change: (text: string) => string): SourceNode {
  if (node.kind === "list") return { ...node, items: node.items.map((item) => withTexts(item, change)) };
  if (node.kind === "object") {
    return { ...node, members: node.members.map((member) => ({ ...member, node: withTexts(member.node, change) })) };
  }
  return typeof node.value === "string" ? { ...node, value: change(node.value) } : node;
}

/** A file with the servers of a program. */
interface ImportPlace {
  /** "file": a file that was named explicitly, of any program. */
  client: ClientId | "file";
  file: string;
  /** Of the user, or of the project in the working folder. */
  scope: "user" | "project";
}

/** The files of other programs with servers on this platform: the user's files first, then the project's. */
export function importPlaces(surroundings: ConfigContext): ImportPlace[] {
  const { cwd, platform } = surroundings;
  const path = pathOf(platform);
  const folders = clientFolders(surroundings);
  const places = new Map<string, ImportPlace>();
  const add = (client: ClientId, scope: ImportPlace["scope"], files: readonly string[]) => {
    for (const file of files.flatMap((name) => filesAt(name, path))) {
      if (!places.has(file)) places.set(file, { client, file, scope });
    }
  };
  for (const client of CLIENT_IDS) {
    const { user, alsoRead } = CLIENTS[client];
    add(client, "user", [...user(folders), ...(alsoRead?.user?.(folders) ?? [])]);
  }
  for (const client of CLIENT_IDS) {
    const { project, alsoRead } = CLIENTS[client];
    const names = [...project, ...(alsoRead?.project ?? [])];
    add(
      client,
      "project",
      // The slash at the end of a folder is kept.
      names.map((name) => path.join(cwd, name)),
    );
  }
  // .mcp.json, the project's file of Claude Code, is also one of ours.
  for (const { file } of candidates(surroundings)) places.delete(file);
  return [...places.values()];
}

/** The file itself, or the files of a folder. */
function filesAt(name: string, path: ReturnType<typeof pathOf>): string[] {
  if (!/[\\/]$/.test(name)) return [name];
  try {
    const files = readdirSync(name).filter((file) => /\.(?:json|ya?ml)$/i.test(file));
    return files.sort().map((file) => path.join(name, file));
  } catch {
    return [];
  }
}
