import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Interests } from "../../protocol/interests.ts";
import {
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  type Result,
  type Notification,
  type Params,
} from "../../protocol/json-rpc.ts";
import type { Implementation, ServerCapabilities, Tool, GetPromptResult, CompleteResult } from "../../protocol/mcp.ts";
import { paramHeadersOf, type ParamHeader } from "../../protocol/param-headers.ts";
import { TASKS_EXTENSION, SEARCHED_META, VERSION_META } from "../../protocol/meta.ts";
import { isCacheable, listRequestedBy } from "../../protocol/methods.ts";
import type { Revision, Era } from "../../protocol/revisions.ts";
import type { Core, Exchange, Listening, ListenRequest, Offer } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";
import { contextOf, type CallContext } from "./call-context.ts";
import type { Features, Completer } from "./features.ts";
import { InputNeeded, isProtocolOutcome } from "./input-needed.ts";
import { SealedRounds } from "./sealed-rounds.ts";
import { changeMethod, type ChangingList, type ListKind } from "../../protocol/list-kinds.ts";
import { rpcError } from "../core/rpc-error.ts";
import { asText } from "../../text/as-text.ts";
import { textResult } from "./arguments.ts";
import { percentDecoded } from "../../text/percent-decoded.ts";

/** The specification's limit for one answer. */
const MAX_VALUES = 100;

const ITEMS: Readonly<Record<ListKind, (features: Features, era: Era) => unknown[]>> = {
  tools: ({ tools }, era) => Array.from(tools.values(), ({ tool }) => listedTool(tool, era)),
  resources: ({ resources }) => Array.from(resources.values(), ({ resource }) => resource),
  resourceTemplates: ({ templates }) => Array.from(templates.values(), ({ template }) => template),
  prompts: ({ prompts }) => Array.from(prompts.values(), ({ prompt }) => prompt),
};
/** A result of a tool has one of these; `task` is that of a tool that is called as a task of 2025-11-25. */
const TOOL_MEMBERS = ["content", "structuredContent", "resultType", "task"];

interface FeatureCoreOptions {
  info: Implementation;
  features: Features;
  instructions: string | undefined;
  revisions: readonly Revision[] | undefined;
  pageSize: number | undefined;
  ttlMs: number | undefined;
  stateKey: Uint8Array | undefined;
  capabilities: ServerCapabilities | undefined;
  legacyTasks: Record<string, unknown> | undefined;
}

/** Tools, resources and prompts of one server, behind whatever edge its clients come through. */
export class FeatureCore implements Core {
  readonly endpoint = undefined;
  readonly name = "";
  readonly revisions: readonly Revision[] | undefined;
  readonly changes = new FeatureChanges();
  #options: FeatureCoreOptions;
  readonly #methods: FeatureMethods;
  readonly #rounds: SealedRounds;

  constructor(options: FeatureCoreOptions) {
    this.#options = options;
    this.revisions = options.revisions;
    this.#methods = new FeatureMethods(options.features, options.pageSize ?? Number.MAX_SAFE_INTEGER);
    this.#rounds = new SealedRounds(options.stateKey);
  }

  async offer(): Promise<Offer> {
    const { info: serverInfo, instructions, ttlMs = 0, legacyTasks } = this.#options;
    const capabilities = { ...this.#capabilities };
    return { serverInfo, capabilities, instructions, ttlMs, cacheScope: "public", legacyTasks };
  }

  serverInfo(): Implementation {
    return this.#options.info;
  }

  /** Clients are told what the other core tells about itself; the features stay. */
  present(other: FeatureCore): void {
    const { info, instructions } = other.#options;
    this.#options = { ...this.#options, info, instructions };
  }

  async handle(exchange: Exchange): Promise<Result> {
    const { method, params } = exchange;
    try {
      const result = await this.#methods.answer(method, params, contextOf(exchange, this.#rounds));
      return this.#complete(method, result);
    } catch (error) {
      if (error instanceof InputNeeded) return error.result;
      if (error instanceof NexusError) throw error;
      // Why the call was given up says more than what came of it.
      if (exchange.signal.aborted) throw asNexusError(exchange.signal.reason);
      throw new NexusError("INTERNAL", messageOf(error), { method, cause: error });
    }
  }

  async listen(request: ListenRequest): Promise<Listening> {
    return this.changes.listen((wanted) => this.#accepted(wanted), request);
  }

  async paramHeaders(_principal: Principal, name: string): Promise<readonly ParamHeader[]> {
    const found = paramHeadersOf(this.#options.features.tools.get(name)?.tool.inputSchema);
    return found.ok ? found.headers : [];
  }

  release(): void {}

  #complete(method: string, result: Result): Result {
    if (!isRecord(result)) throw new TypeError(`The handler returned ${nameOf(result)} instead of a result`);
    const resultType = result.resultType ?? "complete";
    const isKept = isCacheable(method) && resultType === "complete";
    // Lists are the same for all; what a resource says may depend on who reads it, unless its handler says otherwise.
    const cacheScope = method === "resources/read" ? "private" : "public";
    const caching = isKept ? { ttlMs: this.#options.ttlMs ?? 0, cacheScope } : {};
    return { ...caching, ...result, resultType };
  }

  /** What this server can do, by what is declared so far. */
  get #capabilities(): ServerCapabilities {
    const { features, capabilities } = this.#options;
    if (capabilities) return capabilities;
    const { tools, resources, templates, prompts, extensions } = features;
    const completes = [...templates.values(), ...prompts.values()].some(({ complete }) => complete !== undefined);
    return {
      ...(tools.size > 0 && { tools: { listChanged: true } }),
      ...(resources.size + templates.size > 0 && { resources: { listChanged: true, subscribe: true } }),
      ...(prompts.size > 0 && { prompts: { listChanged: true } }),
      ...(completes && { completions: {} }),
      logging: {},
      ...(extensions.size > 0 && { extensions: Object.fromEntries(extensions) }),
    };
  }

  #accepted({ lists = [], resources = [], tasks = [] }: Interests): Interests {
    const offered = this.#capabilities;
    return {
      lists: lists.filter((list) => offered[list]?.listChanged === true),
      resources: offered.resources?.subscribe === true ? resources : [],
      tasks: offered.extensions?.[TASKS_EXTENSION] === undefined ? [] : tasks,
    };
  }
}

/** Handlers without types return anything. */
function nameOf(returned: unknown): string {
  return Array.isArray(returned) ? "an array" : returned === null ? "null" : typeof returned;
}

/** Tells everybody who listens what has changed. */
class FeatureChanges {
  readonly #listeners = new Set<FeatureListening>();

  listen(
    accepted: (interests: Interests) => Interests,
    { interests, onChange: tell, onEnd: end }: ListenRequest,
  ): Listening {
    const listening = new FeatureListening(accepted, { tell, end, onClose: (ended) => this.#listeners.delete(ended) });
    void listening.update(interests);
    this.#listeners.add(listening);
    return listening;
  }

  listChanged(list: ChangingList): void {
    const notification: Notification = { jsonrpc: "2.0", method: changeMethod(list) };
    for (const listening of this.#listeners) if (listening.accepted.lists?.includes(list)) listening.tell(notification);
  }

  resourceUpdated(uri: string): void {
    const notification: Notification = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } };
    for (const listening of this.#listeners) {
      if (listening.accepted.resources?.includes(uri)) listening.tell(notification);
    }
  }

  taskChanged(task: Params & { taskId: string }): void {
    const notification: Notification = { jsonrpc: "2.0", method: "notifications/tasks", params: task };
    for (const listening of this.#listeners) {
      if (listening.accepted.tasks?.includes(task.taskId)) listening.tell(notification);
    }
  }

  /** Ends what can be ended: sessions of legacy clients go on. */
  end(): void {
    for (const listening of this.#listeners) listening.end?.();
  }
}

class FeatureListening implements Listening {
  accepted: Interests = {};
  readonly tell: ListenRequest["onChange"];
  readonly end: ListenRequest["onEnd"];
  readonly #accept: (interests: Interests) => Interests;
  readonly #onClose: (listening: FeatureListening) => void;

  constructor(
    accept: (interests: Interests) => Interests,
    { tell, end, onClose }: Pick<FeatureListening, "tell" | "end"> & { onClose: (listening: FeatureListening) => void },
  ) {
    this.#accept = accept;
    this.tell = tell;
    this.end = end;
    this.#onClose = onClose;
  }

  async update(interests: Interests): Promise<void> {
    this.accepted = this.#accept(interests);
  }

  async close(): Promise<void> {
    this.#onClose(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The methods that both eras have, on the features of one server. */
class FeatureMethods {
  readonly #features: Features;
  readonly #pageSize: number;

  constructor(features: Features, pageSize: number) {
    this.#features = features;
    this.#pageSize = pageSize;
  }

  async answer(method: string, params: Params, context: CallContext): Promise<Result> {
    const kind = listRequestedBy(method);
    if (kind) return this.#list(kind, params, context);
    switch (method) {
      case "tools/call":
        return this.#callTool(params, context);
      case "resources/read":
        return this.#readResource(params, context);
      case "prompts/get":
        return this.#getPrompt(params, context);
      case "completion/complete":
        return completionOf(this.#features, params);
      default:
        return this.#answerExtension(method, params, context);
    }
  }

  #answerExtension(method: string, params: Params, context: CallContext): Result | Promise<Result> {
    const handler = this.#features.methods.get(method);
    if (!handler) throw rpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    return handler(params, context);
  }

  #list(kind: ListKind, { cursor, _meta: asked }: Params, { era }: CallContext): Result {
    const { toolsVersion, searched } = this.#features;
    const isWhole = kind === "tools" && isRecord(asked) && asked[SEARCHED_META] === true;
    const all = [...ITEMS[kind](this.#features, era), ...((isWhole && searched?.list()) || [])];
    const { items, nextCursor } = pageOf(all, this.#pageSize, cursor);
    const _meta = kind === "tools" && toolsVersion !== undefined ? { _meta: { [VERSION_META]: toolsVersion } } : {};
    return { [kind]: items, ...(nextCursor === undefined ? {} : { nextCursor }), ..._meta };
  }

  async #callTool({ name, arguments: args = {} }: Params, context: CallContext): Promise<Result> {
    const tool = asText(name);
    const run =
      this.#features.tools.get(tool)?.run ?? this.#features.searched?.find(tool) ?? this.#features.findUnlisted?.(tool);
    if (!run) throw rpcError(INVALID_PARAMS, `Unknown tool: ${tool}`);
    if (!isRecord(args)) throw rpcError(INVALID_PARAMS, `"arguments" must be an object.`);
    let returned: unknown;
    try {
      returned = await run(args, context);
    } catch (error) {
      // A failure of the tool is a result, so that the model can read it and try again.
      if (isProtocolOutcome(error) || context.signal.aborted) throw error;
      return { ...textResult(messageOf(error)), isError: true };
    }
    return toolResult(tool, returned);
  }

  async #readResource({ uri }: Params, context: CallContext): Promise<Result> {
    if (typeof uri !== "string") throw rpcError(INVALID_PARAMS, `"uri" must be a string.`);
    const fixed = this.#features.resources.get(uri);
    if (fixed) return resourceResult(uri, await fixed.read(uri, context), fixed.resource.mimeType);
    for (const { template, read } of this.#features.templates.values()) {
      const variables = matchTemplate(template.uriTemplate, uri);
      const found = variables && (await read(uri, variables, context));
      if (found !== undefined) return resourceResult(uri, found, template.mimeType);
    }
    throw rpcError(INVALID_PARAMS, `Resource not found: ${uri}`, { uri });
  }

  async #getPrompt({ name, arguments: given }: Params, context: CallContext): Promise<Result> {
    const feature = this.#features.prompts.get(asText(name));
    if (!feature) throw rpcError(INVALID_PARAMS, `Unknown prompt: ${asText(name)}`);
    const entries = Object.entries(isRecord(given) ? given : {});
    const args = Object.fromEntries(entries.map(([argument, value]) => [argument, asText(value)]));
    for (const { name: argument, required } of feature.prompt.arguments ?? []) {
      if (required && args[argument] === undefined) throw rpcError(INVALID_PARAMS, `Missing argument: ${argument}`);
    }
    return promptResult(feature.prompt.name, await feature.get(args, context));
  }
}

/** Which tools can be called as tasks is told in 2025-11-25 alone. */
function listedTool(tool: Tool, era: Era): Tool {
  if (era === "legacy" || !("execution" in tool)) return tool;
  const { execution: _, ...listed } = tool;
  return listed;
}

/**
 * One page of a list. Cursors are opaque to clients: the second page's is the empty string, which is as valid
 * as any other, since only a missing `nextCursor` ends a list.
 */
function pageOf<T>(items: readonly T[], size: number, cursor: unknown): { items: T[]; nextCursor?: string } {
  const page = cursor === undefined ? 0 : pageNumber(cursor);
  const end = (page + 1) * size;
  const slice = items.slice(page * size, end);
  if (page > 0 && slice.length === 0) throw rpcError(INVALID_PARAMS, "There is no page for this cursor.");
  return end < items.length ? { items: slice, nextCursor: page === 0 ? "" : String(page + 1) } : { items: slice };
}

function pageNumber(cursor: unknown): number {
  if (cursor === "") return 1;
  if (typeof cursor === "string" && /^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor);
  throw rpcError(INVALID_PARAMS, "The cursor is not one of this server.");
}

/**
 * The variables of a URI that matches the template; only plain `{name}` expressions are supported. Clients choose the
 * URI, and a regular expression with several variables would try every way to divide a long one. A variable holds no
 * slash, so the segments match one by one, and each is read once.
 */
export function matchTemplate(uriTemplate: string, uri: string): Record<string, string> | undefined {
  const wanted = uriTemplate.split("/");
  const given = uri.split("/");
  if (wanted.length !== given.length) return undefined;
  const variables: [name: string, value: string][] = [];
  for (const [index, segment] of wanted.entries()) {
    const found = matchSegment(segment, given[index] ?? "");
    if (!found) return undefined;
    variables.push(...found);
  }
  return Object.fromEntries(variables.map(([name, value]) => [name, percentDecoded(value)]));
}

/** Fixed text is looked for from the end: where it occurs more than once, the first variables are the longest. */
function matchSegment(segment: string, text: string): [name: string, value: string][] | undefined {
  // Fixed text and names alternate, and fixed text is first and last.
  const parts = segment.split(/\{(\w+)\}/);
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return text === first ? [] : undefined;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const found: [name: string, value: string][] = [];
  let end = text.length - last.length;
  for (let at = parts.length - 2; at > 0; at -= 2) {
    const before = parts[at - 1] ?? "";
    const from = at === 1 ? 0 : text.lastIndexOf(before, end - 1 - before.length);
    const value = text.slice(from + before.length, end);
    if (from < 0 || value === "") return undefined;
    found.unshift([parts[at] ?? "", value]);
    end = from;
  }
  return found;
}

/**
 * What handlers return, as results of the protocol. Handlers without types return anything; what is not a result is a
 * mistake of the server, and the error is for its log.
 */
function toolResult(name: string, returned: unknown): Result {
  if (typeof returned === "string") return textResult(returned);
  if (isRecord(returned) && TOOL_MEMBERS.some((member) => returned[member] !== undefined)) return returned;
  throw notResult("tool", name, { returned, member: "content" });
}

function resourceResult(uri: string, returned: unknown, mimeType: string | undefined): Result {
  if (typeof returned === "string")
    return { contents: [{ uri, ...(mimeType === undefined ? {} : { mimeType }), text: returned }] };
  if (Array.isArray(returned)) return { contents: returned };
  if (isRecord(returned) && (returned["contents"] ?? returned["resultType"]) !== undefined) return returned;
  throw notResult("resource", uri, { returned, member: "contents" });
}

function promptResult(name: string, returned: unknown): Result {
  if (typeof returned === "string") return userSays(returned);
  if (isRecord(returned) && (returned["messages"] ?? returned["resultType"]) !== undefined) return returned;
  throw notResult("prompt", name, { returned, member: "messages" });
}

function notResult(kind: string, name: string, { returned, member }: { returned: unknown; member: string }): TypeError {
  const what = resultWords(returned, member);
  return new TypeError(`The ${kind} ${JSON.stringify(name)} returned ${what}: return a string or { ${member} }`);
}

function resultWords(returned: unknown, member: string): string {
  if (returned === undefined || returned === null) return "nothing";
  if (Array.isArray(returned)) return "an array";
  return isRecord(returned) ? `an object without "${member}"` : `a ${typeof returned}`;
}

function userSays(text: string): GetPromptResult {
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}

function completionOf(features: Features, params: Params): CompleteResult {
  const { ref, argument, context } = params;
  if (!isRecord(ref) || !isRecord(argument)) throw rpcError(INVALID_PARAMS, `"ref" and "argument" are required.`);
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    throw rpcError(INVALID_PARAMS, `"argument" needs "name" and "value".`);
  }
  const known = isRecord(context) && isRecord(context["arguments"]) ? context["arguments"] : {};
  const completers = completersOf(features, ref);
  const complete = Object.hasOwn(completers, name) ? completers[name] : undefined;
  const candidates = complete?.(value, known as Record<string, string>) ?? [];
  const values = candidates.slice(0, MAX_VALUES);
  return { completion: { values, total: candidates.length, hasMore: candidates.length > values.length } };
}

function completersOf({ prompts, templates }: Features, ref: Record<string, unknown>): Record<string, Completer> {
  const owner = ref["type"] === "ref/prompt" ? prompts.get(asText(ref["name"])) : templates.get(asText(ref["uri"]));
  if (!owner) throw rpcError(INVALID_PARAMS, "The reference does not name anything that this server offers.");
  return owner.complete ?? {};
}
