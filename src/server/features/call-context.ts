import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Params } from "../../protocol/json-rpc.ts";
import {
  isLoudEnough,
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitResult,
  type ListRootsResult,
  type LogLevel,
  type Progress,
  type Question,
} from "../../protocol/mcp.ts";
import { MISSING_CLIENT_CAPABILITY } from "../../protocol/meta.ts";
import { isInteractive } from "../../protocol/methods.ts";
import { undeclared } from "../../protocol/question-capabilities.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { Exchange } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";
import { rpcError } from "../core/rpc-error.ts";
import { InputNeeded } from "./input-needed.ts";
import type { CheckedType } from "./schema-types.ts";
import type { SealedRounds } from "./sealed-rounds.ts";
import { readSchema, type ValueCheck } from "./value-check.ts";

/** Questions for the client, by keys of your own. */
export type InputRequests = Record<string, Question>;
/** What the client answered, by the same keys. */
export type InputAnswers = Record<string, Record<string, unknown>>;

/** The answers to these questions: the content of a form has the type of its `requestedSchema`. */
export type AnswersTo<Requests extends InputRequests> = { [Key in keyof Requests]: AnswerTo<Requests[Key]> };

type AnswerTo<Asked> = Asked extends { readonly method: "elicitation/create"; readonly params: infer Params }
  ? Params extends { readonly requestedSchema: infer Form }
    ? { action: "accept"; content: CheckedType<Form> } | { action: "decline" | "cancel"; content?: undefined }
    : ElicitResult & Record<string, unknown>
  : Asked extends { readonly method: "sampling/createMessage" }
    ? CreateMessageResult
    : Asked extends { readonly method: "roots/list" }
      ? ListRootsResult
      : Record<string, unknown>;

export interface InputOptions {
  /** Accept only answers to exactly these questions, asked in this call: for what a client must not answer in advance. */
  sealed?: boolean;
  /** Comes back as `noted` in the call with the answers. Only with `sealed`. */
  note?: string;
}

const ASK_OPTIONS: OptionNames<InputOptions> = { sealed: true, note: true };

/** What a handler knows about the request it answers. It is the same in both eras. */
export interface CallContext {
  readonly era: Era;
  readonly revision: string;
  /** Who calls, as `authenticate` says. */
  readonly principal: Principal;
  /** For whom a gateway in front of this server calls, where it says so. */
  readonly onBehalfOf: string | undefined;
  /** Which state of the tools that caller has seen; empty if the gateway does not know. Undefined: there is no gateway. */
  readonly seen: string | undefined;
  /** Identifies the request in logs: from its headers or `_meta`, or made. */
  readonly correlationId: string;
  /** Of the request, as it came: for members that extensions add. */
  readonly params: Params;
  /** What the client declared. */
  readonly client: ClientCapabilities;
  /** Fires when the client cancels the request, or leaves. */
  readonly signal: AbortSignal;
  /** The same at less cost, for handlers that listen in every call. */
  readonly cancellation: CancelSignal;
  /**
   * Asks the client. A legacy client is asked while the call waits. A modern one gets `input_required` and calls again, so
   * everything before `ask` runs once more for each round: ask first, act afterwards.
   */
  readonly ask: <const Requests extends InputRequests>(
    requests: Requests,
    options?: InputOptions,
  ) => Promise<AnswersTo<Requests>>;
  /**
   * What handlers note about this session, until it ends. Only clients of before 2026-07-28 have sessions; for others it is
   * undefined: keep their state under a name of your own, which a tool returns and the next one takes.
   */
  readonly session: Map<string, unknown> | undefined;
  /** What the handler noted when it asked the questions that this call answers. */
  readonly noted: string | undefined;
  /** Sent only if the client wants it. */
  readonly progress: (progress: Progress) => void;
  /** Sent only if the client wants this level. */
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void;
  /**
   * Lets the client disconnect and come back for the answer after a while; for calls that take long. Does nothing where the
   * client could not come back: only those of 2025-11-25 over HTTP can.
   */
  readonly pause: (retryMs?: number) => void;
}

/** Used if the client does not want reports, so that code can check for it and skip them. */
export const IGNORED_REPORT = (): void => {};

/** What the contexts of one server share. */
export interface ContextParts {
  rounds: SealedRounds;
  sessions: SessionNotes;
  /** Whether answers are compared with the form that was asked. */
  checksValues: boolean;
}

/** What handlers note about each session, by its owner. */
export class SessionNotes {
  readonly #notes = new Map<string, Map<string, unknown>>();

  /** A call that goes on after its session has ended gets notes that nobody reads. */
  of({ caller: { era, owner }, signal }: Exchange): Map<string, unknown> | undefined {
    if (era !== "legacy") return undefined;
    const notes = this.#notes.get(owner) ?? new Map<string, unknown>();
    if (!signal.aborted) this.#notes.set(owner, notes);
    return notes;
  }

  forget(owner: string): void {
    this.#notes.delete(owner);
  }
}

export function contextOf(exchange: Exchange, parts: ContextParts): CallContext {
  return new ExchangeContext(exchange, parts);
}

/** A class, because a getter in an object literal costs as much as the rest of the call. */
class ExchangeContext implements CallContext {
  readonly era: Era;
  readonly revision: string;
  readonly principal: Principal;
  readonly onBehalfOf: string | undefined;
  readonly seen: string | undefined;
  readonly correlationId: string;
  readonly params: Params;
  readonly client: ClientCapabilities;
  readonly cancellation: CancelSignal;
  readonly ask: CallContext["ask"];
  readonly progress: CallContext["progress"];
  readonly log: CallContext["log"];
  readonly pause: CallContext["pause"];
  #signal: AbortSignal | undefined;
  readonly #exchange: Exchange;
  readonly #parts: ContextParts;

  constructor(exchange: Exchange, parts: ContextParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    const { caller, principal, params, signal } = exchange;
    this.era = caller.era;
    this.revision = caller.version;
    this.principal = principal;
    this.onBehalfOf = caller.onBehalfOf;
    this.seen = caller.seen;
    this.correlationId = exchange.correlationId;
    this.params = params;
    this.client = caller.capabilities;
    this.cancellation = signal;
    this.ask = asker(exchange, parts);
    this.progress = progressSender(exchange);
    this.log = logSender(exchange);
    this.pause = caller.pause ?? IGNORED_REPORT;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= abortSignalOf(this.cancellation));
  }

  get session(): Map<string, unknown> | undefined {
    return this.#parts.sessions.of(this.#exchange);
  }

  get noted(): string | undefined {
    const state = this.params["requestState"];
    if (state === undefined || this.era === "legacy") return undefined;
    return this.#parts.rounds.open(state, this.#exchange).note;
  }
}

/** The questions of one run of a handler. Forms can be described by schemas of libraries; clients get their JSON Schemas. */
function asker(exchange: Exchange, { rounds, checksValues }: ContextParts): CallContext["ask"] {
  const ask = sender(exchange, rounds);
  return async <const Requests extends InputRequests>(requests: Requests, options: InputOptions = {}) => {
    checkOptions("ask", options, ASK_OPTIONS);
    const forms = checksValues ? formsIn(requests) : new Map<string, ValueCheck>();
    const answers = await ask(forms.size === 0 ? requests : withForms(requests, forms), options);
    // Compared below: what a form asks for has the type that its schema has.
    return (await withContents(answers, forms)) as AnswersTo<Requests>;
  };
}

function formsIn(requests: InputRequests): Map<string, ValueCheck> {
  const forms = new Map<string, ValueCheck>();
  for (const [key, { params }] of Object.entries(requests)) {
    const schema = params?.["requestedSchema"];
    if (schema !== undefined) forms.set(key, readSchema(schema, { side: "input", subject: `The form "${key}"` }));
  }
  return forms;
}

function withForms(requests: InputRequests, forms: ReadonlyMap<string, ValueCheck>): InputRequests {
  const entries = Object.entries(requests).map(([key, question]): [string, Question] => {
    const form = forms.get(key);
    return [key, form ? { ...question, params: { ...question.params, requestedSchema: form.json } } : question];
  });
  return Object.fromEntries(entries);
}

/** What the user filled in comes from outside: what does not fit the form fails the call. */
async function withContents(answers: InputAnswers, forms: ReadonlyMap<string, ValueCheck>): Promise<InputAnswers> {
  const fitting: InputAnswers = { ...answers };
  for (const [key, form] of forms) {
    const answer = answers[key];
    if (answer?.["action"] !== "accept") continue;
    const checked = await form.check(answer["content"] ?? {});
    if (checked.problems) {
      const message = `The answer to "${key}" does not fit its form: ${checked.problems.join("; ")}`;
      throw new NexusError("INPUT_FAILED", message, { hint: "Ask again, or make less of the form required." });
    }
    fitting[key] = { ...answer, content: checked.value };
  }
  return fitting;
}

function sender(
  exchange: Exchange,
  rounds: SealedRounds,
): (requests: InputRequests, options?: InputOptions) => Promise<InputAnswers> {
  /** What this run asked for in the open, and has an answer to. */
  let heard: InputAnswers = {};
  return async (requests, { sealed = false, note } = {}) => {
    const { caller, method, params } = exchange;
    const missing = undeclared(requests, caller.capabilities);
    if (missing) throw cannotAsk(missing);
    if (caller.era === "legacy") return askNow(requests, exchange);
    const state = params["requestState"];
    const before = state === undefined ? undefined : rounds.open(state, exchange);
    const given = inputResponses(params);
    // Where the questions are sealed, only answers to what this state says was asked count.
    const certain = { ...before?.answers, ...only(given, before?.asked ?? []) };
    const answers = sealed ? certain : { ...certain, ...given };
    const keys = Object.keys(requests);
    if (!sealed) heard = { ...heard, ...only(answers, keys) };
    const open = keys.filter((key) => !Object.hasOwn(answers, key));
    if (open.length === 0) return answers;
    if (!isInteractive(method)) throw rpcError(METHOD_NOT_FOUND, `${method} may not ask for input.`);
    // What nobody asked for is not sealed: it would count as the answer to a sealed question of a later round.
    const round = { answers: { ...certain, ...heard }, asked: open, ...(note === undefined ? {} : { note }) };
    const needsState = sealed || Object.keys(round.answers).length > 0;
    throw new InputNeeded(only(requests, open), needsState ? rounds.seal(round, exchange) : undefined);
  };
}

async function askNow(requests: InputRequests, { caller, signal, method }: Exchange): Promise<InputAnswers> {
  const put = caller.ask;
  if (!put) throw new NexusError("INPUT_FAILED", `The client takes no questions while it waits for ${method}`);
  const failed = new AbortController();
  const wanted = AbortSignal.any([abortSignalOf(signal), failed.signal]);
  const answers = Object.entries(requests).map(async ([key, question]) => [key, await put(question, wanted)] as const);
  try {
    return Object.fromEntries(await Promise.all(answers));
  } catch (error) {
    // Nobody waits for the other answers any more, so their user need not give them.
    failed.abort(error);
    throw error;
  }
}

function cannotAsk(required: ClientCapabilities): NexusError {
  const message = `The client lacks a capability: ${capabilityNames(required)}.`;
  return rpcError(MISSING_CLIENT_CAPABILITY, message, { requiredCapabilities: required });
}

/** The answers that came with the request; any other shape is the client's mistake. */
function inputResponses({ inputResponses: given }: Params): InputAnswers {
  if (given === undefined) return {};
  if (!isRecord(given) || !Object.values(given).every(isRecord)) {
    throw rpcError(INVALID_PARAMS, `"inputResponses" must be an object of objects.`);
  }
  return given as InputAnswers;
}

function only<T>(members: Record<string, T>, keys: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([key]) => keys.includes(key)));
}

function progressSender({ caller }: Exchange): CallContext["progress"] {
  const { progressToken } = caller;
  if (progressToken === undefined) return IGNORED_REPORT;
  return (progress) =>
    caller.notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, ...progress } });
}

function logSender({ caller }: Exchange): CallContext["log"] {
  const { logLevel: wanted } = caller;
  if (wanted === undefined) return IGNORED_REPORT;
  return (level, data, logger) => {
    if (!isLoudEnough(level, wanted)) return;
    const params = { level, data, ...(logger === undefined ? {} : { logger }) };
    caller.notify({ jsonrpc: "2.0", method: "notifications/message", params });
  };
}
