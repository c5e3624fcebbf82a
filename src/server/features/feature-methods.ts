import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type Params, type Result } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { CompleteResult, GetPromptResult, Tool } from "../../protocol/mcp.ts";
import { SEARCHED_META, VERSION_META } from "../../protocol/meta.ts";
import { listRequestedBy } from "../../protocol/methods.ts";
import type { Era } from "../../protocol/revisions.ts";
import { asText } from "../../text/as-text.ts";
import { percentDecoded } from "../../text/percent-decoded.ts";
import { rpcError } from "../core/rpc-error.ts";
import { structuredResult, textResult } from "./arguments.ts";
import type { CallContext } from "./call-context.ts";
import type { Completers, Features, ToolFeature } from "./features.ts";
import { isProtocolOutcome } from "./input-needed.ts";
import type { ValueCheck } from "./value-check.ts";

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

/** The methods that both eras have, on the features of one server. */
export class FeatureMethods {
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
    const feature = this.#features.tools.get(tool) ?? this.#findTool(tool);
    if (!feature) throw rpcError(INVALID_PARAMS, `Unknown tool: ${tool}`);
    if (!isRecord(args)) throw rpcError(INVALID_PARAMS, `"arguments" must be an object.`);
    const { input, output, run } = feature;
    let returned: unknown;
    try {
      // What is wrong with them is for the model, which can call again.
      returned = await run(input ? await checkedArguments(input, args, wrongForModel) : args, context);
    } catch (error) {
      // A failure of the tool is a result, so that the model can read it and try again.
      if (isProtocolOutcome(error) || context.signal.aborted) throw error;
      return { ...textResult(messageOf(error)), isError: true };
    }
    try {
      return output ? await describedResult(tool, output, returned) : toolResult(tool, returned);
    } catch (error) {
      if (error instanceof NexusError) throw error;
      throw mistake(`The tool ${JSON.stringify(tool)} returned a value that cannot be used: ${messageOf(error)}`);
    }
  }

  #findTool(tool: string): Pick<ToolFeature, "run" | "input" | "output"> | undefined {
    const run = this.#features.searched?.find(tool) ?? this.#features.findUnlisted?.(tool);
    return run && { run: (args, context) => run(args as Params, context) };
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
      if (required && !Object.hasOwn(args, argument)) throw rpcError(INVALID_PARAMS, `Missing argument: ${argument}`);
    }
    const refuse = (problems: string) => rpcError(INVALID_PARAMS, `The arguments are not valid: ${problems}`);
    return promptResult(
      feature.prompt.name,
      await feature.get(await checkedArguments(feature.input, args, refuse), context),
    );
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

function wrongForModel(problems: string): TypeError {
  return new TypeError(`The arguments are not valid. Correct them and call again: ${problems}`);
}

/** The arguments as the schema lets them through. */
async function checkedArguments(
  input: ValueCheck | undefined,
  args: Params,
  refuse: (problems: string) => Error,
): Promise<unknown> {
  const checked = await input?.check(args);
  if (checked?.problems) throw refuse(checked.problems.join("; "));
  return checked ? checked.value : args;
}

/**
 * What handlers return, as results of the protocol. Handlers without types return anything; what is not a result is a
 * mistake of the server, which its log has, and its client too: a program that tries the server may be all that shows it.
 */
function toolResult(name: string, returned: unknown): Result {
  if (typeof returned === "string") return textResult(returned);
  if (Array.isArray(returned) && returned.every(isContent)) return { content: returned };
  if (isRecord(returned) && TOOL_MEMBERS.some((member) => returned[member] !== undefined)) {
    const { content, ...others } = returned;
    const { structuredContent } = others;
    if (content === undefined && structuredContent !== undefined)
      return { ...structuredResult(structuredContent), ...others };
    if (content === undefined || (Array.isArray(content) && content.every(isContent))) return returned;
    throw mistake(
      `The tool ${JSON.stringify(name)} returned "content" that is not a list of blocks, each with a "type", and with "text" where that is "text"`,
    );
  }
  throw notResult("tool", name, { returned, member: "content" });
}

function isContent(block: unknown): boolean {
  return isRecord(block) && typeof (block["type"] === "text" ? block["text"] : block["type"]) === "string";
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

/** The result of a tool that says what it returns: the value, or a whole result with it. */
async function describedResult(name: string, output: ValueCheck, returned: unknown): Promise<Result> {
  const result = isRecord(returned) && isWhole(returned) ? returned : undefined;
  if (result && (isUnfinished(result) || result["isError"] === true)) return toolResult(name, result);
  const checking = output.check(result ? result["structuredContent"] : returned);
  const checked = checking instanceof Promise ? await checking : checking;
  if (!checked.problems) return toolResult(name, { ...result, structuredContent: checked.value });
  const problems = checked.problems.join("; ");
  throw mistake(`The tool ${JSON.stringify(name)} returned a value that does not match its output: ${problems}`);
}

/** Whether it is a result and not the value of one: a value can have members of the same names. */
function isWhole(returned: Record<string, unknown>): boolean {
  if (isUnfinished(returned) || returned["structuredContent"] !== undefined) return true;
  return returned["isError"] === true && Array.isArray(returned["content"]);
}

/** A task, also one of 2025-11-25, or questions. */
function isUnfinished({ resultType, taskId, inputRequests, task }: Record<string, unknown>): boolean {
  if (isRecord(task) && typeof task["taskId"] === "string") return true;
  return typeof resultType === "string" && resultType !== "complete" && (taskId ?? inputRequests) !== undefined;
}

function mistake(message: string): NexusError {
  return new NexusError("INTERNAL", message, { rpc: { code: INTERNAL_ERROR, message } });
}

function resourceResult(uri: string, returned: unknown, mimeType: string | undefined): Result {
  if (typeof returned === "string")
    return { contents: [{ uri, ...(mimeType === undefined ? {} : { mimeType }), text: returned }] };
  const result = Array.isArray(returned) ? { contents: returned as unknown[] } : returned;
  if (!isRecord(result) || (result["contents"] ?? result["resultType"]) === undefined)
    throw notResult("resource", uri, { returned, member: "contents" });
  const { contents } = result;
  if (contents === undefined || (Array.isArray(contents) && contents.every(isPart))) return result;
  throw mistake(
    `The resource ${JSON.stringify(uri)} returned "contents" that is not a list of objects, each with "uri" and "text" or "blob"`,
  );
}

function isPart(part: unknown): boolean {
  return isRecord(part) && isText(part["uri"]) && isText(part["text"] ?? part["blob"]);
}

function promptResult(name: string, returned: unknown): Result {
  if (typeof returned === "string") return userSays(returned);
  if (!isRecord(returned) || (returned["messages"] ?? returned["resultType"]) === undefined)
    throw notResult("prompt", name, { returned, member: "messages" });
  const { messages } = returned;
  if (messages === undefined || (Array.isArray(messages) && messages.every(isMessage))) return returned;
  throw mistake(
    `The prompt ${JSON.stringify(name)} returned "messages" that is not a list of objects, each with "role" and a block as "content"`,
  );
}

function isMessage(message: unknown): boolean {
  return (
    isRecord(message) &&
    (message["role"] === "user" || message["role"] === "assistant") &&
    isContent(message["content"])
  );
}

function notResult(
  kind: string,
  name: string,
  { returned, member }: { returned: unknown; member: string },
): NexusError {
  const what = resultWords(returned, member);
  return mistake(`The ${kind} ${JSON.stringify(name)} returned ${what}: return a string or { ${member} }`);
}

function resultWords(returned: unknown, member: string): string {
  if (returned === undefined || returned === null) return "nothing";
  if (Array.isArray(returned)) return "an array";
  return isRecord(returned) ? `an object without "${member}"` : `a ${typeof returned}`;
}

function userSays(text: string): GetPromptResult {
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}

async function completionOf(features: Features, params: Params): Promise<CompleteResult> {
  const { ref, argument, context } = params;
  if (!isRecord(ref) || !isRecord(argument)) throw rpcError(INVALID_PARAMS, `"ref" and "argument" are required.`);
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") {
    throw rpcError(INVALID_PARAMS, `"argument" needs "name" and "value".`);
  }
  const known = isRecord(context) && isRecord(context["arguments"]) ? context["arguments"] : {};
  const completers = completersOf(features, ref);
  const complete = Object.hasOwn(completers, name) ? completers[name] : undefined;
  const candidates: unknown = (await complete?.(value, known as Record<string, string>)) ?? [];
  if (!Array.isArray(candidates) || !candidates.every(isText))
    throw mistake(`The completion of ${JSON.stringify(name)} returned what is not a list of texts`);
  const values = candidates.slice(0, MAX_VALUES);
  return { completion: { values, total: candidates.length, hasMore: candidates.length > values.length } };
}

function completersOf({ prompts, templates }: Features, ref: Record<string, unknown>): Completers {
  const owner = ref["type"] === "ref/prompt" ? prompts.get(asText(ref["name"])) : templates.get(asText(ref["uri"]));
  if (!owner) throw rpcError(INVALID_PARAMS, "The reference does not name anything that this server offers.");
  return owner.complete ?? {};
}
