import { existsSync } from "node:fs";
import { NexusError } from "../../errors/nexus-error.ts";
import type { SourceChange } from "../../source/source-change.ts";
import { clientFolders, CLIENTS, type ClientId } from "./clients.ts";
import { understand } from "../read/dialect.ts";
import { changeText } from "../edit/edit.ts";
import { pathOf, type ConfigContext } from "../read/places.ts";
import { formatOf, loadText, MAX_CLIENT_BYTES, parseSource } from "../read/read-source.ts";
import { findMember, plainValue, type SourceNode } from "../../source/source-node.ts";

/** An entry of another program as it is in its file. */
export interface PresentEntry {
  value: unknown;
  /** In the keys of Nexus. */
  entry: unknown;
}

/** The files of a program for the user or the project in the working folder; the one to write comes first. */
export function clientFiles(client: ClientId, scope: "user" | "project", surroundings: ConfigContext): string[] {
  const { user, project } = CLIENTS[client];
  const path = pathOf(surroundings.platform);
  const files =
    scope === "user" ? user(clientFolders(surroundings)) : project.map((name) => path.join(surroundings.cwd, name));
  const first = files.find((file) => existsSync(file));
  return first === undefined ? [...files] : [first, ...files.filter((file) => file !== first && existsSync(file))];
}

/** The entry with this name in a program's file; undefined if there is none. */
export async function findClientEntry(client: ClientId, file: string, name: string): Promise<PresentEntry | undefined> {
  const text = await loadText(file, { called: "The file", isStrict: true, maxBytes: MAX_CLIENT_BYTES });
  if (text === undefined) return undefined;
  const node = findMember(sectionIn(await parseSource(text, file), client, file), name)?.node;
  if (!node) return undefined;
  const { node: understood } = understand(node, CLIENTS[client].section[0] === "mcp" ? "opencode" : "common");
  return { value: plainValue(node), entry: plainValue(understood) };
}

/** The text of a program's file with entries set, or removed if the value is undefined. */
export async function withClientEntries(
  client: ClientId,
  file: string,
  { text, entries }: { text: string; entries: ReadonlyMap<string, Record<string, unknown> | undefined> },
): Promise<string> {
  const { section, title } = CLIENTS[client];
  const edited = await changeText(text, file, (root) => {
    const present = sectionIn(root, client, file);
    const changes = [...entries].map(([name, value]): SourceChange => ({ path: [...section, name], value }));
    const fresh = Object.fromEntries([...entries].filter(([, value]) => value !== undefined));
    // A null value is not an object, so no member can be added to it.
    return [present?.kind === "scalar" ? [{ path: section, value: fresh }] : changes];
  });
  if (edited !== undefined) return edited;
  const fresh = [...entries].filter(([, value]) => value !== undefined);
  const hint =
    fresh.length === 0
      ? `Delete ${[...entries.keys()].map((name) => `"${name}"`).join(", ")} in an editor.`
      : `Add this in an editor: ${JSON.stringify(asClientFile(client, Object.fromEntries(fresh)))}`;
  throw invalid(file, `Nexus cannot edit the file of ${title} without changing other parts of it`, { hint });
}

/** The part of the file that has the entries; undefined if there is none yet. */
function sectionIn(root: SourceNode, client: ClientId, file: string): SourceNode | undefined {
  const { section, title } = CLIENTS[client];
  const node = section.reduce<SourceNode | undefined>((at, key) => findMember(at, key)?.node, root);
  if (root.kind === "object" && (!node || node.kind === "object" || plainValue(node) === null)) return node;
  const what = root.kind === "object" ? `"${section.join(".")}"` : "The file";
  throw invalid(file, `${what} is not an object, which ${title} requires`, { place: (node ?? root).place });
}

function invalid(
  file: string,
  message: string,
  { hint, place }: { hint?: string; place?: { line: number; column: number } },
): NexusError {
  const source = { file, ...place };
  return new NexusError("CONFIG_INVALID", message, { phase: "config", source, hint, mayHaveReached: false });
}

/** Entries in the form of a program's file, to be copied into it. */
export async function clientFileText(
  client: ClientId,
  file: string,
  entries: Readonly<Record<string, unknown>>,
): Promise<string> {
  const content = asClientFile(client, entries);
  if (formatOf(file) !== "toml") return JSON.stringify(content, undefined, 2);
  const { stringify } = await import("smol-toml");
  return stringify(content).trimEnd();
}

function asClientFile(client: ClientId, entries: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return CLIENTS[client].section.reduceRight((inner, key) => ({ [key]: inner }), { ...entries });
}
