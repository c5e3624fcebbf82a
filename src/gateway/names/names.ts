import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { targetKind } from "../../protocol/methods.ts";
import type { ShownTools } from "../../protocol/shown-tools.ts";
import type { View } from "./view.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";

/**
 * Names on the endpoint of all servers: `<prefix>__<name>` for tools and prompts, where the prefix is the server's id
 * or the `prefix` of its entry; `<server>+<uri>` for resources. Ids and prefixes contain neither mark, so the first
 * mark ends them. The rest is the server's own name and may contain anything.
 */
const NAME_MARK = "__";
const URI_MARK = "+";

/** A thing of one server with the server's own name for it. */
export interface Own {
  server: string;
  own: string;
}

export function fullName(prefix: string, name: string): string {
  return prefix + NAME_MARK + name;
}

export function fullUri(server: string, uri: string): string {
  return server + URI_MARK + uri;
}

/** Undefined if the name does not begin with the prefix of a server. */
export function resolveFullName(text: string, servers: Prefixes): Own | undefined {
  const end = text.indexOf(NAME_MARK);
  const server = end <= 0 ? undefined : servers.findIdByPrefix(text.slice(0, end));
  return server === undefined ? undefined : { server, own: text.slice(end + NAME_MARK.length) };
}

/** The servers whose names begin with a prefix. */
interface Prefixes {
  findIdByPrefix: (prefix: string) => string | undefined;
}

export function resolveFullUri(text: string, isServer: (id: string) => boolean): Own | undefined {
  const end = text.indexOf(URI_MARK);
  const server = text.slice(0, Math.max(0, end));
  return end > 0 && isServer(server) ? { server, own: text.slice(end + URI_MARK.length) } : undefined;
}

export type ThingKind = "tool" | "prompt" | "resource";

/** The thing that a request names, in the names of its server. */
export interface NamedThing {
  server: string;
  kind: ThingKind;
  /** Its name or URI. */
  name: string;
  /** The name that the caller used. */
  given: string;
  /** The parameters in the names of that server. */
  params: Params;
  /** Why the request is refused if the caller may use the thing; a caller that may not is answered as if it did not exist. */
  refusal?: NexusError | undefined;
  /** For a tool of an API that finds or describes others: what the caller may know of. */
  shown?: ShownTools | undefined;
}

/** A name that no server of the endpoint has. */
export interface UnknownThing {
  server: undefined;
  kind: ThingKind;
  given: string;
}

/** What endpoints of several servers show. */
interface Named {
  /** The server, and its own name, of what has this name. */
  resolve: (kind: ThingKind, given: string) => Own | undefined;
}

/** What a request names; undefined for methods that name nothing. Throws where the name is no text. */
export function thingIn(
  method: string,
  params: Params,
  view: View,
  names: Named,
): NamedThing | UnknownThing | undefined {
  switch (targetKind(method)) {
    case "tool":
      return found("tool", params, "name", { view, names });
    case "prompt":
      return found("prompt", params, "name", { view, names });
    case "resource":
      return found("resource", params, "uri", { view, names });
    case "completion":
      return completed(params, { view, names });
    case "server":
    case "subscription":
    case "task":
    case "method":
      return undefined;
  }
}

interface Place {
  view: View;
  names: Named;
}

/** The name is inside `ref`. */
function completed(params: Params, place: Place): NamedThing | UnknownThing {
  const { ref } = params;
  const kind = isRecord(ref) ? REFERENCES.get(ref["type"]) : undefined;
  if (!isRecord(ref) || !kind) throw invalid(`"ref" is not a prompt or a resource`);
  const target = found(kind, ref, kind === "prompt" ? "name" : "uri", place);
  if (target.server === undefined) return target;
  return { ...target, params: target.params === ref ? params : { ...params, ref: target.params } };
}

const REFERENCES = new Map<unknown, "prompt" | "resource">([
  ["ref/prompt", "prompt"],
  ["ref/resource", "resource"],
]);

function found(
  kind: ThingKind,
  params: Params,
  member: "name" | "uri",
  { view, names }: Place,
): NamedThing | UnknownThing {
  const given = params[member];
  if (typeof given !== "string") throw invalid(`"${member}" must be a string`);
  if (view.kind === "one") return { server: view.server, kind, name: given, given, params };
  const own = names.resolve(kind, given);
  if (!own) return { server: undefined, kind, given };
  return { server: own.server, kind, name: own.own, given, params: { ...params, [member]: own.own } };
}

function invalid(message: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { mayHaveReached: false });
}

export function unknownMethod(method: string): NexusError {
  return new NexusError("CAPABILITY_MISSING", `Method not found: ${method}`, { method, mayHaveReached: false });
}

/**
 * A server's result in the names of the endpoint of all servers. Only names of tools and prompts and URIs of resources
 * are rewritten; what stays the same is not copied.
 */
export function outwardResult(server: string, method: string, result: Result): Result {
  switch (method) {
    case "tools/call":
      return outwardToolResult(server, result);
    case "prompts/get":
      return withList(result, "messages", (message) => withMember(message, "content", (it) => content(server, it)));
    case "resources/read":
      return withList(result, "contents", (each) => withUri(server, each));
    case "tasks/get":
      // The result of the call that became a task is inside.
      return withMember(result, "result", (inner) => (isRecord(inner) ? outwardToolResult(server, inner) : inner));
    default:
      return result;
  }
}

/** One entry of a list; names begin with the prefix, URIs with the server. */
export function outwardItem(kind: ListKind, item: Params, { server, prefix = server }: Naming): Params {
  switch (kind) {
    case "tools":
      return withMember(withAppUri(server, item), "name", (name) => nameOf(prefix, name));
    case "prompts":
      return withMember(item, "name", (name) => nameOf(prefix, name));
    case "resources":
      return withUri(server, item);
    case "resourceTemplates":
      return withMember(item, "uriTemplate", (uri) => uriOf(server, uri));
  }
}

/** How the names of a server's things begin. */
export interface Naming {
  server: string;
  prefix?: string | undefined;
}

function outwardToolResult<T extends Params>(server: string, result: T): T {
  const named = result["_meta"] === undefined ? result : withAppUri(server, result);
  return hasResources(named["content"]) ? withMember(named, "content", (it) => content(server, it)) : named;
}

/** Most results have none. */
function hasResources(value: unknown): boolean {
  if (!Array.isArray(value)) return value !== undefined;
  for (const each of value as unknown[]) {
    const type = (each as { type?: unknown } | null)?.type;
    if (type === "resource_link" || type === "resource") return true;
  }
  return false;
}

/** One content block, or a list of them. */
function content(server: string, value: unknown): unknown {
  return Array.isArray(value) ? mapped(value, (each) => block(server, each)) : block(server, value);
}

function block(server: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  if (value["type"] === "resource_link") return withUri(server, value);
  if (value["type"] === "resource") return withMember(value, "resource", (inner) => withUri(server, inner));
  return value;
}

/**
 * MCP Apps: the page that shows a tool's results, `_meta.ui.resourceUri`, or `_meta["ui/resourceUri"]` of older
 * servers.
 */
function withAppUri<T extends Params>(server: string, holder: T): T {
  const rename = (uri: unknown) => uriOf(server, uri);
  return withMember(holder, "_meta", (meta) =>
    withMember(withMember(meta, "ui/resourceUri", rename), "ui", (ui) => withMember(ui, "resourceUri", rename)),
  );
}

function withUri<T>(server: string, value: T): T {
  return withMember(value, "uri", (uri) => uriOf(server, uri));
}

function nameOf(prefix: string, name: unknown): unknown {
  return typeof name === "string" ? fullName(prefix, name) : name;
}

function uriOf(server: string, uri: unknown): unknown {
  return typeof uri === "string" ? fullUri(server, uri) : uri;
}

function withList<T extends Params>(holder: T, member: string, change: (item: unknown) => unknown): T {
  return withMember(holder, member, (list) => (Array.isArray(list) ? mapped(list, change) : list));
}

/** Returns the same object if the member stays the same. */
function withMember<T>(holder: T, member: string, change: (value: unknown) => unknown): T {
  if (!isRecord(holder)) return holder;
  const before = holder[member];
  if (before === undefined) return holder;
  const after = change(before);
  return after === before ? holder : { ...holder, [member]: after };
}

/** Returns the same array if every item stays the same. */
function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const after = change(item);
    if (after !== item) (copy ??= [...list])[index] = after;
  }
  return copy ?? list;
}
