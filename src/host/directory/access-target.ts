import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { Tool, ToolAnnotations } from "../../protocol/mcp.ts";
import { CALL_TOOL, CALLS_META, FINDS_META } from "../../protocol/meta.ts";
import { targetKind } from "../../protocol/methods.ts";
import { isSearched, isSearching } from "../../protocol/shown-tools.ts";

/** The target of access rules, with the name that its server uses. */
export interface AccessTarget {
  kind: "server" | "tool" | "resource" | "prompt" | "method" | "set";
  /** Its id; empty for a set, which has things of several servers. */
  server: string;
  /** Name of a tool, prompt, method or set; URI or URI template of a resource; id of a server. */
  name: string;
  /** Annotations of a tool, as its server lists it. */
  annotations?: ToolAnnotations | undefined;
  /** Input schema of a tool, as its server lists it. */
  inputSchema?: unknown;
  /** Hash of its definition, as its server lists it; undefined if it was not compared. */
  definition?: string | undefined;
  /** The set in which it is listed or used; undefined elsewhere. */
  set?: string | undefined;
  /** For a tool that calls others: its argument with the name of the other tool, as its server lists it. */
  callsBy?: string | undefined;
  /** For a tool that finds others: the member of its structured content that lists them. */
  findsIn?: string | undefined;
  /** The other tool that a call is for: rules about its name apply as well. */
  calls?: string | undefined;
  /** Whether it is such another tool: what its call contains is not known. */
  isCalled?: boolean | undefined;
  /**
   * For a tool of an API that is found by searching: the tool of the same API that calls it. Whoever is denied that one has
   * neither, however it is called.
   */
  through?: string | undefined;
  /** Whether it only finds, describes or calls others of its API: only a rule that denies its name counts. */
  isWay?: boolean | undefined;
  /** For such a tool: the others. It is there for callers who may use any of them. */
  searched?: readonly AccessTarget[] | undefined;
}

/** The target of a request. Subscriptions, completions and tasks use the rules of other kinds: see `decidedAs`. */
export type RequestTarget =
  | AccessTarget
  | { kind: "subscription"; server: string; uri: string }
  | { kind: "completion"; of: AccessTarget }
  /** `tool` created the task; undefined if unknown. */
  | { kind: "task"; server: string; tool: AccessTarget | undefined };

/** The target whose rules decide about a request. */
export function decidedAs(target: RequestTarget): AccessTarget {
  if (target.kind === "subscription") return { kind: "resource", server: target.server, name: target.uri };
  if (target.kind === "completion") return target.of;
  if (target.kind === "task") return target.tool ?? serverTarget(target.server);
  return target;
}

/** What a listed tool has to do with others: the argument that names one, and the member that lists those it found. */
export function callsOthers(definition: unknown): Pick<AccessTarget, "callsBy" | "findsIn"> {
  const meta = isRecord(definition) && isRecord(definition["_meta"]) ? definition["_meta"] : {};
  const { [CALLS_META]: argument, [FINDS_META]: member } = meta;
  return {
    ...(typeof argument === "string" ? { callsBy: argument } : {}),
    ...(typeof member === "string" ? { findsIn: member } : {}),
  };
}

/** The result of a tool that finds others, without those that the caller may not call. They may be grouped by servers. */
export function withoutDenied(
  result: Result,
  { server, findsIn = "" }: AccessTarget,
  isAllowed: (tool: AccessTarget) => boolean,
): Result {
  const structured = result["structuredContent"];
  const found = isRecord(structured) ? structured[findsIn] : undefined;
  if (!isRecord(structured) || !Array.isArray(found)) return result;
  const mayCall = (each: unknown) => {
    const { name, effect } = isRecord(each) ? each : {};
    const annotations = { readOnlyHint: effect === "read", destructiveHint: effect === "destructive" };
    return isAllowed({ kind: "tool", server, name: String(name), annotations, isCalled: true });
  };
  const allowed = found.flatMap((each: unknown) => {
    if (!isRecord(each) || !Array.isArray(each["tools"])) return mayCall(each) ? [each] : [];
    const tools = each["tools"].filter(mayCall);
    if (tools.length === each["tools"].length) return [each];
    return tools.length === 0 ? [] : [{ ...each, tools }];
  });
  if (allowed.length === found.length && allowed.every((each, at) => each === found[at])) return result;
  const structuredContent = { ...structured, [findsIn]: allowed };
  // The text of the tool has the names as well.
  return { ...result, structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
}

/** The target of a call with these arguments: the same, with the other tool that it calls. */
export function calledWith(target: AccessTarget, args: unknown): AccessTarget {
  const { callsBy } = target;
  if (callsBy === undefined || !isRecord(args) || !Object.hasOwn(args, callsBy)) return target;
  return { ...target, calls: String(args[callsBy]) };
}

/** The other tool that decides as well: the one that is called, or the one through which it is called. */
export function otherTarget(target: AccessTarget): AccessTarget | undefined {
  if (target.calls !== undefined) return calledTarget(target);
  return target.through === undefined ? undefined : wayTarget(target);
}

/** The other tool, decided as if it were called directly. Its effect is not listed: that of the caller counts. */
export function calledTarget({ kind, server, annotations, set, calls }: AccessTarget): AccessTarget | undefined {
  return calls === undefined ? undefined : { kind, server, name: calls, annotations, set, isCalled: true };
}

/** The tool through which a tool is called, decided by its name alone. */
export function wayTarget({ kind, server, set, through }: AccessTarget): AccessTarget | undefined {
  if (through === undefined) return undefined;
  return { kind, server, name: through, annotations: { readOnlyHint: true }, set, isWay: true };
}

/** A tool as an API lists it: `searched` are those that its searching tools lead to. */
export function apiTarget(listed: AccessTarget, item: unknown, searched: readonly AccessTarget[]): AccessTarget {
  if (isSearched(item)) return { ...listed, through: CALL_TOOL };
  if (!isSearching(item)) return listed;
  return { ...listed, callsBy: undefined, findsIn: undefined, isWay: true, searched };
}

/**
 * The target of a tool by its definition. `searched` are the tools of its server that only searching finds; undefined for a
 * server that is not made of an API.
 */
export function toolTarget(server: string, tool: Tool, searched: readonly Tool[] | undefined): AccessTarget {
  const { name, annotations } = tool;
  const listed: AccessTarget = { kind: "tool", server, name, annotations, ...callsOthers(tool) };
  if (!searched) return listed;
  const others = isSearching(tool) ? searched.map((each) => toolTarget(server, each, [])) : [];
  return apiTarget(listed, tool, others);
}

export function serverTarget(server: string): AccessTarget {
  return { kind: "server", server, name: server };
}

/** A set as a whole: whether a caller may use its address. */
export function setTarget(name: string): AccessTarget {
  return { kind: "set", server: "", name };
}

/** The target of a request, in the names of its server. A method that is not known here may do anything. */
export function requestTarget(server: string, method: string, params: Params = {}): RequestTarget {
  switch (targetKind(method)) {
    case "server":
      return serverTarget(server);
    case "tool":
      return { kind: "tool", server, name: String(params["name"]) };
    case "prompt":
      return { kind: "prompt", server, name: String(params["name"]) };
    case "resource":
      return { kind: "resource", server, name: String(params["uri"]) };
    case "subscription":
      return { kind: "subscription", server, uri: String(params["uri"]) };
    case "completion":
      return { kind: "completion", of: referenceTarget(server, params["ref"]) };
    case "task":
      return { kind: "task", server, tool: undefined };
    case "method":
      return { kind: "method", server, name: method };
  }
}

function referenceTarget(server: string, ref: unknown): AccessTarget {
  const { type, name, uri } = isRecord(ref) ? ref : {};
  return type === "ref/prompt"
    ? { kind: "prompt", server, name: String(name) }
    : { kind: "resource", server, name: String(uri) };
}

/** Not part of any configured id, so it belongs to no other server. */
const SEPARATOR = "@v";

/** The id of the server for one major version of a published server. */
export function majorServer(server: string, major: number | string): string {
  return `${server}${SEPARATOR}${major}`;
}

/** The server whose rules count: for one major version, the server itself. */
export function ruledServer(id: string): string {
  const at = id.indexOf(SEPARATOR);
  return at === -1 ? id : id.slice(0, at);
}

/** What to say about a major version that is not published, to those who may use its server; undefined for other ids. */
export function unpublishedMajor(id: string): string | undefined {
  const server = ruledServer(id);
  if (server === id) return undefined;
  const major = id.slice(server.length + SEPARATOR.length);
  return `Version ${major} of server "${server}" is not published: it was retired, or never published. Use /servers/${server}/mcp, and read its list of tools again`;
}
