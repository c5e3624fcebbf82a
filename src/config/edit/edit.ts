import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { basename } from "node:path";
import { writeAtomic } from "../../files/atomic-write.ts";
import { realPath } from "../../files/paths.ts";
import { withLock } from "../../files/file-lock.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { changed, type SourceChange } from "../../source/source-change.ts";
import { encodedLike, formatOf, loadText, MAX_CLIENT_BYTES, parseSource, type Format } from "../read/read-source.ts";
import { plainValue, findMember, type SourceNode, type Place } from "../../source/source-node.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { findServers, type InputDefinition, type FoundServers, type FoundServer } from "../read/find-servers.ts";
import { idOf } from "../define-server.ts";
import { serverId } from "../../text/server-id.ts";
import { asText } from "../../text/as-text.ts";
import { parseDuration } from "../../text/duration.ts";

/** The text of a file before and after an edit. */
interface EditedFile {
  /** Undefined if there was no file. */
  before: string | undefined;
  after: string;
}

/** Edits a configuration file in place, all edits or none; comments, order and permissions are kept. */
export async function editFile(file: string, ...edits: readonly ServerEdit[]): Promise<EditedFile> {
  return editFileThen(file, edits, (edited) => Promise.resolve(edited));
}

/** Returns the new text of a file; throws if the edit is not possible. */
export type TextEdit = (text: string) => Promise<string>;

/** Like `editFile`; the lock is held until `then` has ended. */
export async function editFileThen<T>(
  file: string,
  edits: readonly ServerEdit[] | TextEdit,
  then: (edited: EditedFile) => Promise<T>,
): Promise<T> {
  const edit = typeof edits === "function" ? edits : (text: string) => editedText(text, file, edits);
  // A symbolic link stays a link, even if its target does not exist yet.
  const target = realPath(file);
  // Checked first, so that no folder is created for an edit that is refused.
  if (!existsSync(target)) await edit("");
  return withLock(target, async ({ check }) => {
    // Text that cannot be decoded would be changed by writing it.
    const before = await loadText(file, { isStrict: true, maxBytes: MAX_CLIENT_BYTES });
    const after = await edit(before ?? "");
    if (after !== before) await writeAtomic(target, encodedLike(target, after), await modeOf(target), check);
    return then({ before, after });
  });
}

async function editedText(text: string, file: string, edits: readonly ServerEdit[]): Promise<string> {
  let edited = text;
  for (const edit of edits) edited = await editText(edited, file, edit);
  return edited;
}

/** The text of a file after an edit, which changed only what it should. */
export async function editText(text: string, file: string, edit: ServerEdit): Promise<string> {
  const format = formatOf(file);
  // Codex uses other keys than Nexus.
  if (format === "toml" && edit.kind === "add") {
    throw refused(file, "Nexus cannot add servers to this TOML file", byHand(edit, format));
  }
  const edited = await changeText(text, file, (root) => planEdit(edit, root, file));
  if (edited !== undefined) return edited;
  const refers = format === "yaml" && /(?:^|[\s[{,])(?:[&*][^\s,\]}]|<<\s*:)/m.test(text);
  const parts = refers ? "It uses YAML anchors or aliases (&, *, <<). " : "";
  throw refused(file, "Nexus cannot edit the file without changing other parts of it", parts + byHand(edit, format));
}

/**
 * The text of a file after changes; there may be several ways, the best first. The result is compared with the intended
 * content; undefined if no way leads to it.
 */
export async function changeText(
  text: string,
  file: string,
  plan: (root: SourceNode) => SourceChange[][],
): Promise<string | undefined> {
  const format = formatOf(file);
  const root = await parseSource(text, file);
  const before = plainValue(root);
  const editors = await editorsOf(format);
  for (const way of plan(root)) {
    if (way.length === 0) return text;
    const after = way.reduce(changed, before);
    // In TOML, an empty table without a line of its own does not exist.
    const meant = format === "toml" ? [after, withoutEmptied(after, way)] : [after];
    for (const apply of editors) {
      const edited = attempt(() => apply(text, way));
      if (edited !== undefined && (await says(edited, file, meant))) return edited;
    }
  }
  return undefined;
}

function withoutEmptied(content: unknown, way: readonly SourceChange[]): unknown {
  return way.reduce((left, { path, value }) => {
    const above = path.slice(0, -1);
    const table = above.reduce<unknown>((at, key) => (isRecord(at) ? at[String(key)] : undefined), left);
    const isEmptied = value === undefined && isRecord(table) && Object.keys(table).length === 0;
    return isEmptied ? changed(left, { path: above, value: undefined }) : left;
  }, content);
}

type Editor = (text: string, changes: readonly SourceChange[]) => string;

/** The editor that changes least comes first. */
async function editorsOf(format: Format): Promise<Editor[]> {
  if (format === "toml") return [(await import("../../source/toml-edit.ts")).editToml];
  if (format === "json") return [(await import("../../source/json-edit.ts")).editJson];
  return [
    (await import("../../source/yaml-splice.ts")).spliceYaml,
    (await import("../../source/yaml-edit.ts")).editYaml,
  ];
}

/** Libraries throw their own errors for changes that they do not support. */
function attempt(apply: () => string): string | undefined {
  try {
    return apply();
  } catch {
    return undefined;
  }
}

async function says(text: string, file: string, contents: readonly unknown[]): Promise<boolean> {
  try {
    const said = plainValue(await parseSource(text, file));
    return contents.some((content) => isDeepStrictEqual(said, content));
  } catch {
    return false;
  }
}

async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    (facts) => facts.mode & 0o777,
    () => 0o600,
  );
}

function refused(file: string, message: string, hint: string): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", source: { file }, hint, mayHaveReached: false });
}

/** The instruction for a file that cannot be edited automatically. */
function byHand(edit: ServerEdit, format: Format): string {
  if (edit.kind === "add") {
    const others = "Add the server to another file, or edit this file in an editor.";
    return format === "toml" ? `For Codex, use "nexus mcp install codex". ${others}` : others;
  }
  const part = format === "toml" ? "table" : "entry";
  if (edit.kind === "remove") return `Delete the ${part} of "${edit.id}" in an editor.`;
  const isOn = edit.kind === "enable";
  const setting = { json: `"enabled": ${isOn}`, yaml: `enabled: ${isOn}`, toml: `"enabled = ${isOn}"` }[format];
  return `Add ${setting} to the ${part} of "${edit.id}" in an editor.`;
}

/** A change to a server of a file. */
export type ServerEdit = Addition | { kind: "remove" | "enable" | "disable"; id: string };

interface Addition {
  kind: "add";
  name: string;
  entry: ServerEntry;
  /** The inputs of the entry's `${input:id}`; existing inputs of the file are kept. */
  inputs?: readonly InputDefinition[] | undefined;
  replace?: boolean | undefined;
}

interface Contents extends FoundServers {
  root: SourceNode;
  file: string;
}

/** The changes of a file for an edit; if there are several ways, the best comes first. */
function planEdit(edit: ServerEdit, root: SourceNode, file: string): SourceChange[][] {
  const contents: Contents = { ...findServers(root, file), root, file };
  if (edit.kind === "add") {
    const addition = besideKnownInputs(edit, contents.inputs);
    return [[additionTo(contents, addition), ...questionsFor(contents, addition)]];
  }
  const [server, another] = contents.servers.filter((found) => idOf(found) === edit.id);
  if (!server) throw refusedEdit(file, `The file has no server "${edit.id}"`);
  if (another) {
    const lines = `lines ${server.place.line} and ${another.place.line}`;
    throw refusedEdit(
      file,
      `The file has two servers "${edit.id}", in ${lines}`,
      "Rename or delete one of them in an editor.",
    );
  }
  if (edit.kind === "remove") return [[{ path: server.path, value: undefined }]];
  checkSwitches(server, file);
  if (edit.kind === "enable" && !server.section.enabled) throw sectionOff(server, file);
  return edit.kind === "enable" ? switchingOn(server) : [[switchingOff(server)]];
}

function additionTo(contents: Contents, { name, entry, replace }: Addition): SourceChange {
  const { servers, file } = contents;
  const id = serverId(name);
  const same = servers.find((found) => idOf(found) === id);
  if (same && replace) return replacement(same, name, entry);
  if (same) {
    const hint = `Remove it first (nexus mcp remove ${id}), replace it with --force, or choose another name.`;
    throw refusedEdit(file, `The file already has a server "${id}"`, hint);
  }
  const { path, node, value } = placeFor(contents, entry);
  if (node?.kind === "list") return { path: [...path, node.items.length], value: plain({ ...value, id: name }) };
  // A null value is not an object, so no member can be added to it.
  return node?.kind === "scalar"
    ? { path, value: plain({ [name]: value }) }
    : { path: [...path, name], value: plain(value) };
}

function replacement({ path, name: known, section }: FoundServer, name: string, entry: ServerEntry): SourceChange {
  const value = section.dialect === "opencode" ? inOpencodeWords(entry) : entry;
  const isItem = typeof path.at(-1) === "number";
  return { path, value: plain(isItem ? { id: known ?? name, ...value } : value) };
}

interface Section {
  path: readonly string[];
  node: SourceNode | undefined;
  /** The entry in the form of that section. */
  value: object;
}

/** The section for new servers: preferably one with servers, then an empty one, then a new one. */
function placeFor({ root, servers, file }: Contents, entry: ServerEntry): Section {
  const sections = [["mcpServers"], ["servers"], ["mcp_servers"], ["mcp", "servers"]].map((path): Section => {
    return { path, node: nodeAt(root, path), value: entry };
  });
  const used = sections.find(({ node }) => node?.kind === "object" || node?.kind === "list");
  if (used) return used;
  const isOpencode =
    servers.some(({ section }) => section.dialect === "opencode") || /^opencode\.jsonc?$/.test(basename(file));
  if (isOpencode) return { path: ["mcp"], node: nodeAt(root, ["mcp"]), value: inOpencodeWords(entry) };
  return sections.find(({ node }) => node) ?? { path: ["mcpServers"], node: undefined, value: entry };
}

/** The inputs that are not in the file yet. */
function questionsFor({ root, inputs: known }: Contents, { inputs = [] }: Addition): SourceChange[] {
  const fresh = inputs.filter(({ id }) => !known.some((input) => input.id === id));
  if (fresh.length === 0) return [];
  const written = fresh.map((input) => plain({ type: "promptString", ...input }));
  const node = nodeAt(root, ["inputs"]);
  if (node?.kind !== "list") return [{ path: ["inputs"], value: written }];
  return written.map((value, index) => ({ path: ["inputs", node.items.length + index], value }));
}

/** If an entry has both switches, its author must decide which one counts. */
function checkSwitches({ node }: FoundServer, file: string): void {
  if (node.kind !== "object") return;
  for (const switchKey of ["enabled", "disabled"]) {
    const [first, another] = node.members.filter(({ key }) => key === switchKey);
    if (!first || !another) continue;
    throw refusedEdit(file, `The entry has "${switchKey}" twice`, "Delete one of them in an editor.", another.place);
  }
}

/** Enabling the section would also start other servers. */
function sectionOff({ section: { path }, node: { place } }: FoundServer, file: string): NexusError {
  const [section = "mcp"] = path;
  const message = `"enabled" of "${section}" is false in the file, which disables all its servers`;
  const hint = `Set "enabled" of "${section}" to true in an editor. This enables all its servers that are not disabled individually.`;
  return refusedEdit(file, message, hint, place);
}

/** An entry has `enabled` or `disabled`: the existing key is kept, and a default value is not written. */
function switchingOff({ node, path }: FoundServer): SourceChange {
  const isNegative = findMember(node, "disabled") !== undefined;
  return { path: [...path, isNegative ? "disabled" : "enabled"], value: isNegative };
}

function switchingOn({ node, path }: FoundServer): SourceChange[][] {
  const disabled = findMember(node, "disabled") ? [{ path: [...path, "disabled"], value: false }] : [];
  if (!findMember(node, "enabled")) return [disabled];
  // It cannot be removed if it comes from a merged map.
  return [undefined, true].map((value) => [...disabled, { path: [...path, "enabled"], value }]);
}

function nodeAt(root: SourceNode, path: readonly string[]): SourceNode | undefined {
  return path.reduce<SourceNode | undefined>((at, key) => findMember(at, key)?.node, root);
}

/** The value as it will be read back. */
function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function refusedEdit(file: string, message: string, hint?: string, place?: Place): NexusError {
  const source = { file, ...place };
  return new NexusError("CONFIG_INVALID", message, { phase: "config", source, hint, mayHaveReached: false });
}

/** An entry in the form that opencode reads. */
function inOpencodeWords(entry: ServerEntry): Record<string, unknown> {
  const { command, args = [], env, url, timeout, connection_timeout: patience, ...others } = entry;
  const { type: _type, transport: _transport, ...rest } = others;
  const reach =
    command === undefined
      ? { type: "remote", url: url === undefined ? undefined : asText(url) }
      : { type: "local", command: [command, args].flat(), environment: env };
  const ofCalls = parseDuration(timeout);
  return {
    ...(withoutDollars(reach) as Record<string, unknown>),
    ...(withoutDollars(rest) as Record<string, unknown>),
    // In opencode this is the connection timeout.
    timeout: patience === undefined ? undefined : (parseDuration(patience) ?? patience),
    tool_timeout_sec: ofCalls === undefined ? undefined : ofCalls / 1_000,
  };
}

function withoutDollars(value: unknown): unknown {
  if (typeof value === "string") {
    return value.replaceAll(
      /(?<!\$)\$\{(?:(file:[^{}]+?)|(?:env:)?([A-Za-z_]\w*))\}/g,
      (_all, file?: string, name?: string) => {
        return `{${file ?? `env:${name}`}}`;
      },
    );
  }
  if (Array.isArray(value)) return value.map(withoutDollars);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutDollars(item)]));
}

interface Asking {
  entry: ServerEntry;
  inputs?: readonly InputDefinition[] | undefined;
}

/**
 * An entry and its inputs for a file that already has inputs. Two programs may use the same id for different inputs:
 * the answer to one, perhaps a token, must not go to the other's server.
 */
function besideKnownInputs<T extends Asking>(asking: T, known: readonly InputDefinition[]): T {
  const { inputs = [] } = asking;
  const names = new Map<string, string>();
  const taken = new Map([...known, ...inputs].map((input) => [input.id, input]));
  for (const input of inputs) {
    const same = known.find(({ id }) => id === input.id);
    if (!same || asksTheSame(same, input)) continue;
    let number = 2;
    for (let other; (other = taken.get(`${input.id}-${number}`)) && !asksTheSame(other, input);) number++;
    names.set(input.id, `${input.id}-${number}`);
    taken.set(`${input.id}-${number}`, input);
  }
  if (names.size === 0) return asking;
  return {
    ...asking,
    entry: renamed(asking.entry, names) as ServerEntry,
    inputs: inputs.map((input) => ({ ...input, id: names.get(input.id) ?? input.id })),
  };
}

function asksTheSame(one: InputDefinition, other: InputDefinition): boolean {
  return one.description === other.description && one.password === other.password && one.default === other.default;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    return value.replaceAll(/(?<=\$\{input:)[\w.-]+?(?=\}|:-)/g, (id) => names.get(id) ?? id);
  }
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== "object" || value === null || value instanceof URL) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, names)]));
}
