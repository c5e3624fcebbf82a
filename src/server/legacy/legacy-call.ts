import { randomUUID } from "node:crypto";
import { abortSignalOf, Cancellation } from "../../async/cancellation.ts";
import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { isRequestId, type Notification, type Params, type Request } from "../../protocol/json-rpc.ts";
import { isLoudEnough, type ClientCapabilities, type LogLevel, type Question } from "../../protocol/mcp.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";
import type { Caller, ClientName, Core, Exchange } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";
import { Receipt } from "../core/receipt.ts";
import { behalfIn, correlationOf, withoutReservedMeta, type Correlation } from "../core/request-meta.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { RequestChannel } from "./request-channel.ts";
import { META } from "../../protocol/meta.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";

/** What a call takes from its session. */
export interface CallSurroundings {
  core: Core;
  principal: Principal;
  owner: string;
  version: LegacyRevision;
  capabilities: ClientCapabilities;
  client?: ClientName | undefined;
  /** Whether the core runs tasks of this revision itself. */
  runsTasks: boolean;
  questions: OpenQuestions;
  logger: Logger;
  hearsChanges: Caller["hearsChanges"];
  /** As it is now: a client may change it while a call runs. */
  logLevel: () => LogLevel | undefined;
}

/** One request of a legacy client on its way through the core. */
export class LegacyCall {
  readonly exchange: Exchange;
  readonly receipt: Receipt;
  readonly #around: CallSurroundings;
  readonly #channel: RequestChannel;
  readonly #cancelled = new Cancellation();
  /** Pages the user was sent to: our id of each by the server's own, or by its URL where the server has none. */
  #visits: Map<string, string> | undefined;
  isOver = false;

  constructor({ method, params = {} }: Request, channel: RequestChannel, around: CallSurroundings) {
    this.#channel = channel;
    this.#around = around;
    const { core, principal } = around;
    const { endpoint } = core;
    const signal = this.#cancelled;
    const correlation = correlationOf(params["_meta"], channel.headers);
    this.receipt = new Receipt(channel.headers);
    this.exchange = {
      endpoint,
      principal,
      method,
      params: canonicalParams(params, around.runsTasks ? FOREIGN : FOREIGN_AND_TASK),
      caller: this.#caller(params, correlation),
      correlationId: correlation.correlationId,
      traceId: correlation.traceId,
      receipt: this.receipt,
      failure: undefined,
      called: undefined,
      state: undefined,
      span: undefined,
      outgoing: undefined,
      upstreamMs: undefined,
      retries: undefined,
      signal,
    };
  }

  /** The client cancelled the request, or cannot be given it. */
  cancel(reason: NexusError): void {
    this.isOver = true;
    this.#cancelled.abort(reason);
  }

  /** The call has come to its result: pages it sent the user to are no longer waited for. */
  completeVisits(): void {
    if (!this.#visits) return;
    for (const elicitationId of this.#visits.values()) this.#channel.send(visitCompleted(elicitationId));
    this.#visits = undefined;
  }

  #caller(params: Params, { trace }: Correlation): Caller {
    const { version, owner, capabilities, client, logLevel, hearsChanges } = this.#around;
    const { canStream } = this.#channel;
    const canPause = canStream && this.#channel.pause !== undefined && atLeast(version, "2025-11-25");
    const meta = isRecord(params["_meta"]) ? params["_meta"] : undefined;
    const token = meta?.["progressToken"];
    return {
      era: "legacy",
      version,
      owner,
      capabilities: canStream ? capabilities : withoutQuestions(capabilities),
      logLevel: logLevel(),
      progressToken: isRequestId(token) ? token : undefined,
      client,
      trace,
      onBehalfOf: meta && behalfIn(meta),
      hearsChanges,
      notify: (notification) => this.#notify(notification),
      pause: canPause ? (retryMs) => this.#channel.pause?.(retryMs) : undefined,
      ask: canStream ? (question, signal) => this.#ask(question, signal) : undefined,
    };
  }

  #notify(notification: Notification): void {
    if (this.isOver) return;
    const { method, params } = notification;
    if (method === "notifications/message" && !this.#isLoud(params?.["level"])) return;
    if (method === "notifications/elicitation/complete") {
      const visit = String(params?.["elicitationId"]);
      const elicitationId = this.#visits?.get(visit);
      if (elicitationId === undefined) return;
      this.#visits?.delete(visit);
      this.#channel.send(visitCompleted(elicitationId));
      return;
    }
    this.#channel.send(notification);
  }

  /** Before a client has named a level it is told nothing. */
  #isLoud(level: unknown): boolean {
    const wanted = this.#around.logLevel();
    return wanted !== undefined && isLoudEnough(level, wanted);
  }

  async #ask(question: Question, wanted: AbortSignal): Promise<Params> {
    if (this.isOver)
      throw new NexusError("CANCELLED", `${this.exchange.method} has ended: the client can no longer be asked`);
    const { questions } = this.#around;
    const { original, ...asked } = legacyQuestion(question, this.#around);
    const send = this.#channel.send.bind(this.#channel);
    // Whoever cancels a call has no more use for its questions, however long the core takes to notice.
    const signal = AbortSignal.any([wanted, abortSignalOf(this.#cancelled)]);
    const { params } = asked;
    if (params?.["mode"] !== "url") {
      const answer = await questions.ask(asked, { send, signal });
      const { content } = answer;
      return original && isRecord(content) ? { ...answer, content: original(content) } : answer;
    }
    // Ids of different servers could meet here, so each visit gets one of ours.
    const elicitationId = randomUUID();
    const answer = await questions.ask({ ...asked, params: { ...params, elicitationId } }, { send, signal });
    this.#visits ??= new Map();
    if (answer["action"] === "accept")
      this.#visits.set(String(params["elicitationId"] ?? params["url"]), elicitationId);
    return answer;
  }
}

function visitCompleted(elicitationId: string): Notification {
  return { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } };
}

/** Members by which callers of other revisions steer a call; from a caller of these they mean nothing. */
const FOREIGN: readonly string[] = ["inputResponses", "requestState"];
const FOREIGN_AND_TASK: readonly string[] = [...FOREIGN, "task"];

/** A legacy caller's parameters in the form of the newest specification. */
function canonicalParams(params: Params, foreign: readonly string[]): Params {
  const own = withoutReservedMeta(params);
  if (!foreign.some((member) => member in own)) return own;
  const copy = { ...own };
  for (const member of foreign) delete copy[member];
  return copy;
}

/** Who is asked. */
interface AskedClient {
  version: LegacyRevision;
  capabilities: ClientCapabilities;
  /** Whether a question may belong to a task of this revision. */
  runsTasks?: boolean;
}

/** A question as its client can be asked it, and how the answer is read, where it is asked in another form. */
interface LegacyQuestion extends Question {
  original?: (content: Params) => Params;
}

/** Throws where the client cannot be asked: it did not declare it, or its revision has no way to. */
export function legacyQuestion(question: Question, client: AskedClient): LegacyQuestion {
  if (!isDeclared(question, client.capabilities)) throw unsupported(nameOf(question));
  const { method, params = {} } = question;
  const own = withoutReservedMeta(params, client.runsTasks ? META.relatedTask : undefined);
  switch (method) {
    case "elicitation/create":
      return elicitation(own, client);
    case "sampling/createMessage":
      return { method, params: sampling(own, client) };
    default:
      return Object.keys(own).length > 0 ? { method, params: own } : { method };
  }
}

/** With what a client may lack while it has the rest. */
function nameOf({ method, params }: Question): string {
  if (method === "elicitation/create") return `${method} with a ${params?.["mode"] === "url" ? "URL" : "form"}`;
  return method === "sampling/createMessage" && params?.["tools"] !== undefined ? `${method} with tools` : method;
}

function elicitation(params: Params, { version }: AskedClient): LegacyQuestion {
  const method = "elicitation/create";
  if (params["mode"] === "url") return { method, params };
  if (atLeast(version, "2025-11-25")) return { method, params: { ...params, mode: "form" } };
  const { mode: _, ...older } = params;
  const { schema, original } = olderForm(params["requestedSchema"]);
  return { method, params: { ...older, requestedSchema: schema }, original };
}

function sampling(params: Params, { version }: AskedClient): Params {
  const { messages } = params;
  if (atLeast(version, "2025-11-25") || !Array.isArray(messages)) return params;
  return { ...params, messages: (messages as unknown[]).flatMap((message) => olderMessages(message, version)) };
}

/** Before 2025-11-25 a message has one block of content: several become as many messages of the same speaker. */
function olderMessages(message: unknown, version: LegacyRevision): unknown[] {
  if (!isRecord(message)) return [message];
  const { content } = message;
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  for (const block of blocks) {
    const type = isRecord(block) ? block["type"] : undefined;
    const isTool = type === "tool_use" || type === "tool_result";
    if (isTool || (type === "audio" && !atLeast(version, "2025-03-26"))) {
      throw unsupported(`sampling/createMessage with ${type}`);
    }
  }
  return Array.isArray(content) ? blocks.map((block) => ({ ...message, content: block })) : [message];
}

function unsupported(what: string): NexusError {
  return new NexusError("CAPABILITY_MISSING", `The client does not support ${what}`);
}

type Property = Record<string, unknown>;

/** A form as clients of 2025-06-18 know it. */
interface OlderForm {
  schema: unknown;
  /** What was filled in, in the members that the server asked for. */
  original: (content: Property) => Property;
}

/**
 * The form for a client of 2025-06-18, which has choices by `enum` and `enumNames` and defaults for yes-or-no fields alone:
 * other defaults are told in the description, and several of many are a yes-or-no field each.
 */
function olderForm(schema: unknown): OlderForm {
  if (!isRecord(schema) || !isRecord(schema["properties"])) return { schema, original: unchanged };
  const { properties: given } = schema;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const selections: Selection[] = [];
  const properties = Object.entries(given).flatMap(([name, property]): [string, unknown][] => {
    if (!isRecord(property)) return [[name, property]];
    if (property["type"] !== "array") return [[name, olderProperty(property)]];
    const choices = choicesOf(property["items"]).map((choice) => ({ ...choice, field: `${name}: ${choice.value}` }));
    if (choices.length === 0 || choices.some(({ field }) => field in given)) throw unknownField(name);
    selections.push({ name, choices, isRequired: required.includes(name) });
    return choices.map((choice) => [choice.field, yesOrNo(name, property, choice)]);
  });
  if (selections.length === 0)
    return { schema: { ...schema, properties: Object.fromEntries(properties) }, original: unchanged };
  // To choose none of them is an answer, and many clients leave out what is not ticked.
  const stillRequired = required.filter((name) => selections.every((selection) => selection.name !== name));
  return {
    schema: { ...schema, properties: Object.fromEntries(properties), required: stillRequired },
    original: (content) => selections.reduce(gathered, content),
  };
}

const unchanged: OlderForm["original"] = (content) => content;

interface Choice {
  value: string;
  title: string;
}

/** Several of many, by the fields that stand for them. */
interface Selection {
  name: string;
  choices: (Choice & { field: string })[];
  isRequired: boolean;
}

/** The content with one member in place of many. Whether these are too few or too many is for the server to say. */
function gathered(content: Property, { name, choices, isRequired }: Selection): Property {
  const fields = new Set(choices.map(({ field }) => field));
  const others = Object.entries(content).filter(([member]) => !fields.has(member));
  if (others.length === Object.keys(content).length && !isRequired) return content;
  const chosen = choices.filter(({ field }) => content[field] === true).map(({ value }) => value);
  return Object.fromEntries([...others, [name, chosen]]);
}

function yesOrNo(name: string, property: Property, { value, title }: Choice): Property {
  const { title: label = name, description, minItems, maxItems, default: preset } = property;
  const limits = [
    ...(typeof minItems === "number" && minItems > 0 ? [`at least ${minItems}`] : []),
    ...(typeof maxItems === "number" ? [`at most ${maxItems}`] : []),
  ];
  const words = [description, limits.length > 0 ? `Choose ${limits.join(" and ")}.` : undefined];
  return {
    type: "boolean",
    title: `${String(label)}: ${title}`,
    ...described(words),
    ...(Array.isArray(preset) ? { default: preset.includes(value) } : {}),
  };
}

function olderProperty(property: Property): Property {
  const { oneOf, default: preset, ...others } = property;
  const older: Property = others;
  if (preset !== undefined) {
    if (property["type"] === "boolean") older["default"] = preset;
    else Object.assign(older, described([property["description"], `Default: ${shown(preset)}.`]));
  }
  if (!Array.isArray(oneOf)) return older;
  const choices = choicesOf({ anyOf: oneOf });
  older["enum"] = choices.map(({ value }) => value);
  older["enumNames"] = choices.map(({ title }) => title);
  return older;
}

function described(words: readonly unknown[]): Property {
  const description = words.filter((text) => typeof text === "string").join(" ");
  return description === "" ? {} : { description };
}

function shown(preset: unknown): string {
  return typeof preset === "string" ? preset : JSON.stringify(preset);
}

/** What can be chosen; none where it is not a choice. */
function choicesOf(items: unknown): Choice[] {
  if (!isRecord(items)) return [];
  const { enum: values, anyOf, oneOf } = items;
  if (Array.isArray(values)) {
    return values.filter((value) => typeof value === "string").map((value) => ({ value, title: value }));
  }
  const titled: unknown[] = [anyOf, oneOf].find(Array.isArray) ?? [];
  return titled.filter(isRecord).flatMap(({ const: value, title }) => {
    return typeof value === "string" ? [{ value, title: typeof title === "string" ? title : value }] : [];
  });
}

function unknownField(name: string): NexusError {
  const message = `The client cannot be asked for "${name}": its revision 2025-06-18 does not support this form field`;
  return new NexusError("CAPABILITY_MISSING", message, {
    hint: "Use a client of revision 2025-11-25 or newer.",
  });
}

/**
 * The same without what would be asked, for a request that nothing can be sent on before its answer. Pages are left: the
 * answer itself can say which ones to visit (-32042).
 */
function withoutQuestions(capabilities: ClientCapabilities): ClientCapabilities {
  const { elicitation, sampling: _sampling, roots: _roots, ...others } = capabilities;
  return elicitation?.url === undefined ? others : { ...others, elicitation: { url: elicitation.url } };
}
