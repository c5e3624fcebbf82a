import type { ListKind } from "../../protocol/list-kinds.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { fullName, fullUri } from "./names.ts";

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
  return withMember(withAppUri(server, result), "content", (it) => content(server, it));
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
