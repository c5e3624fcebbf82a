import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { Turns } from "../../async/turns.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import type { InputContext } from "../../client/conversation/input.ts";
import { serverId } from "../../text/server-id.ts";
import { NexusError, messageOf, type ErrorCode } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { CreateMessageRequest, CreateMessageResult, Content } from "../../protocol/mcp.ts";
import { visible, visibleLines } from "../../text/visible.ts";
import { wrongReply } from "../consent/wrong-reply.ts";
import { answerCalls, answerText } from "../model/answer-parts.ts";
import type { ModelMessage, ToolCallPart } from "../model/model-message.ts";
import type {
  ModelEvent,
  ModelProvider,
  ModelRequest,
  Usage,
  ModelTool,
  ModelStopReason,
} from "../model/model-provider.ts";
import { NO_USAGE } from "../model/usage.ts";
import { SamplingBudget, type SamplingLimits, type SamplingReservation } from "./sampling-budget.ts";
import { invalidSampling, samplingDenied } from "./sampling-failure.ts";
import { samplingMessages } from "./sampling-messages.ts";
import type {
  SamplingAsker,
  SamplingParams,
  SamplingQuestion,
  SamplingReply,
  SamplingReviewer,
} from "./sampling-question.ts";
import { SamplingTools } from "./sampling-tools.ts";
import { jsonText, shownSampling, stopsOf } from "./shown-sampling.ts";
import { textOfMedia } from "./text-media.ts";

export interface SamplingDeskOptions {
  /** The models that servers may use; the first is the default. Read for every request. */
  models: () => readonly ModelProvider[];
  /**
   * A model whose name contains a hint of the server (in lower case) that none of `models` fits, for example one that a
   * provider lists. Default: none, and the hint has no effect.
   */
  findModel?: ((hint: string, signal: AbortSignal) => Promise<ModelProvider | undefined>) | undefined;
  /** Undefined: there is nobody to ask, and only the requests of allowed servers are answered. */
  ask?: SamplingAsker | undefined;
  /** Servers whose requests are answered without a question. Allowing a tool does not allow this. */
  allow?: readonly string[] | undefined;
  /** Shows answers before they are sent to the server; undefined: answers are sent at once. */
  review?: SamplingReviewer | undefined;
  /** Which answers are shown; `requested`: those whose reply has `review`. Default: `all`. */
  reviewed?: "all" | "requested" | undefined;
  /** Maximum number of tokens of one answer; default: 4,096. */
  maxTokens?: number | undefined;
  limits?: Partial<SamplingLimits> | undefined;
  /** Shared with others that ask the same person; default: its own. */
  turns?: Turns | undefined;
  /** Called with what an answer used, for sums. */
  onUsage?: ((used: { server: string; model: ModelProvider; usage: Usage }) => void) | undefined;
  /** Called with why a request was not answered: a legacy server learns only that it was rejected. */
  onRefused?: ((server: string, error: NexusError) => void) | undefined;
}

const OPTIONS: OptionNames<SamplingDeskOptions> = {
  models: true,
  findModel: true,
  ask: true,
  allow: true,
  review: true,
  reviewed: true,
  maxTokens: true,
  limits: true,
  turns: true,
  onUsage: true,
  onRefused: true,
};

/** A request that was checked, for the model that was chosen for it. */
interface Prepared {
  params: SamplingParams;
  tools: SamplingTools;
  messages: ModelMessage[];
  model: ModelProvider;
  /** What the request and its answer may use. */
  reserved: SamplingReservation;
  /** Whether the person wants to see the answer before it is sent. */
  isReviewed: boolean;
}

type AllowingReply = Exclude<SamplingReply, { kind: "decline" }>;

const DEFAULT_MAX_TOKENS = 4_096;
/** Failures of a question that say what happened: it was declined, the edited request or the reply of the handler is wrong. */
const REPORTED: readonly ErrorCode[] = ["DENIED", "INPUT_FAILED", "ARGUMENTS_INVALID"];

/**
 * Answers servers that ask for the user's model: a person sees each request first, unless the server was allowed. What it
 * uses is limited for each server. The conversation with the user is never part of a request.
 */
export class SamplingDesk {
  readonly #options: SamplingDeskOptions;
  readonly #budget: SamplingBudget;
  readonly #turns: Turns;
  readonly #allowed: Set<string>;

  constructor(options: SamplingDeskOptions) {
    checkOptions("SamplingDesk", options, OPTIONS);
    this.#options = options;
    this.#budget = new SamplingBudget(options.limits);
    this.#turns = options.turns ?? new Turns();
    this.#allowed = new Set(options.allow?.map(serverId));
  }

  /**
   * Rejects with DENIED if it is declined or a limit is reached, INPUT_FAILED if it is invalid or the model
   * fails, ARGUMENTS_INVALID if a handler returned no valid reply.
   */
  async answer(request: CreateMessageRequest, { server, call, signal }: InputContext): Promise<CreateMessageResult> {
    try {
      this.#budget.enter(server, call);
      const allowed = await this.#permitted(server, await this.#prepare(server, request.params, signal), signal);
      const { answer, usage } = await this.#run(server, allowed, signal);
      const sent = allowed.isReviewed
        ? await this.#review({ server, answer, usage, tools: allowed.tools }, signal)
        : answer;
      return samplingResult(sent, allowed.tools);
    } catch (error) {
      if (error instanceof NexusError && error.code !== "CANCELLED") this.#options.onRefused?.(server, error);
      throw error;
    }
  }

  /** Checks a request and reserves what it needs: a person is not asked about one that is too large. */
  async #prepare(server: string, params: unknown, signal: AbortSignal): Promise<Prepared> {
    if (!isRecord(params)) throw invalidSampling("it has no parameters");
    const { maxTokens, modelPreferences, systemPrompt } = params;
    if (systemPrompt !== undefined && typeof systemPrompt !== "string") {
      throw invalidSampling(`"systemPrompt" is not text`);
    }
    const tools = new SamplingTools(params["tools"]);
    const messages = samplingMessages(params["messages"], tools);
    const model = await this.#chooseModel(modelPreferences, signal);
    if (!model) throw samplingDenied(server, "no model is configured");
    requireFewTools(tools, model);
    const most = Math.min(this.#options.maxTokens ?? DEFAULT_MAX_TOKENS, this.#budget.left(server).tokens);
    // Servers in other languages send 1000.0, and some send nothing.
    const wanted = typeof maxTokens === "number" && maxTokens >= 1 ? Math.floor(maxTokens) : most;
    const input = estimatedTokens({ system: systemPrompt, messages, tools: tools.tools });
    const reserved = this.#budget.reserve(server, Math.min(wanted, most), input);
    const isReviewed = this.#options.review !== undefined && this.#options.reviewed !== "requested";
    return { params: params as SamplingParams, tools, messages, model, reserved, isReviewed };
  }

  /** The request as the person allowed it. */
  async #permitted(server: string, prepared: Prepared, signal: AbortSignal): Promise<Prepared> {
    let reply: AllowingReply | undefined;
    try {
      reply = this.#allowed.has(server) ? undefined : await this.#ask(server, prepared, signal);
    } catch (error) {
      prepared.reserved.settle(NO_USAGE);
      throw error;
    }
    const isReviewed = prepared.isReviewed || reply?.review === true;
    if (!reply?.edit) return { ...prepared, isReviewed };
    prepared.reserved.settle(NO_USAGE);
    return { ...(await this.#prepare(server, { ...prepared.params, ...defined(reply.edit) }, signal)), isReviewed };
  }

  #chooseModel(preferences: unknown, signal: AbortSignal): Promise<ModelProvider | undefined> {
    const { models, findModel } = this.#options;
    const find = findModel && ((hint: string) => findModel(hint, signal));
    return unlessAborted(chooseModel(models(), preferences, find), signal);
  }

  /** Undefined if an earlier answer allows it already. */
  async #ask(server: string, prepared: Prepared, signal: AbortSignal): Promise<AllowingReply | undefined> {
    const { ask } = this.#options;
    if (!ask) {
      throw samplingDenied(server, "there is no person to ask", `To allow it: --allow-sampling ${server}`);
    }
    const asking = this.#turns.run(async () => {
      signal.throwIfAborted();
      // A question before this one may have allowed the server.
      if (this.#allowed.has(server)) return undefined;
      const reply = await unlessAborted(Promise.resolve(ask(this.#questionFor(server, prepared), signal)), signal);
      requireKind(`"ask" of SamplingDesk`, reply, ["once", "session", "decline"]);
      if (reply.kind === "decline") throw samplingDenied(server, "the user did not allow it");
      if (reply.kind === "session") this.#allowed.add(server);
      return reply;
    });
    return unlessAborted(
      asking.catch((error: unknown) => Promise.reject(asDenied(server, error))),
      signal,
    );
  }

  #questionFor(server: string, { params, model, reserved }: Prepared): SamplingQuestion {
    const { requests, tokens } = this.#budget.left(server);
    const left = { requests, tokens: tokens + reserved.maxTokens + reserved.input };
    const { maxTokens } = reserved;
    return { server: visible(server), model: model.name, ...shownSampling(params), maxTokens, left, params };
  }

  async #run(
    server: string,
    prepared: Prepared,
    signal: AbortSignal,
  ): Promise<{ answer: SampledAnswer; usage: Usage }> {
    const { model, params, messages, tools } = prepared;
    const { input, maxTokens, settle } = prepared.reserved;
    let usage: Usage = NO_USAGE;
    try {
      const request: ModelRequest = {
        system: params.systemPrompt,
        messages,
        ...(tools.tools.length > 0 && { tools: tools.tools, toolChoice: choiceOf(params.toolChoice) }),
        maxTokens,
        ...(typeof params.temperature === "number" && { temperature: params.temperature }),
        ...(stopsOf(params).length > 0 && { stopSequences: stopsOf(params) }),
      };
      let end: Extract<ModelEvent, { type: "end" }> | undefined;
      for await (const event of model.stream(request, { signal })) {
        // Until the provider says what was used: an interrupted answer counts as a full one.
        if (event.type !== "wait" && event.type !== "notice") usage = { inputTokens: input, outputTokens: maxTokens };
        if (event.type === "end") end = event;
      }
      if (!end) throw new Error("the answer of the provider has no end");
      usage = end.usage;
      const { stopReason, message } = end;
      const answer = { model: model.name, stopReason, text: answerText(message), toolCalls: answerCalls(message) };
      return { answer, usage };
    } catch (error) {
      signal.throwIfAborted();
      throw samplingFailed(server, model.name, error);
    } finally {
      settle(usage);
      this.#options.onUsage?.({ server, model, usage });
    }
  }

  async #review(
    { server, answer, usage, tools }: { server: string; answer: SampledAnswer; usage: Usage; tools: SamplingTools },
    signal: AbortSignal,
  ): Promise<SampledAnswer> {
    const { review } = this.#options;
    if (!review) throw samplingDenied(server, "its answer cannot be shown before it is sent");
    const { model, text, toolCalls } = answer;
    const calls = toolCalls.map(({ name, arguments: given }) => {
      return { name: visible(tools.ownName(name)), arguments: jsonText(given) };
    });
    const shown = { server: visible(server), model, text: visibleLines(text), toolCalls: calls, usage };
    const asking = this.#turns.run(async () => {
      signal.throwIfAborted();
      const reply = await unlessAborted(Promise.resolve(review(shown, signal)), signal);
      requireKind(`"review" of SamplingDesk`, reply, ["send", "decline"]);
      if (reply.kind === "decline") throw samplingDenied(server, "the user did not send the answer of the model");
      return reply.text === undefined ? answer : { ...answer, text: reply.text };
    });
    return unlessAborted(
      asking.catch((error: unknown) => Promise.reject(asDenied(server, error))),
      signal,
    );
  }
}

/** A question that fails, or that the person leaves, allows nothing. */
function asDenied(server: string, error: unknown): NexusError {
  if (error instanceof NexusError && REPORTED.includes(error.code)) return error;
  const denied = samplingDenied(server, "the question about it was not answered");
  return denied.with({ cause: error });
}

function requireKind(handler: string, reply: unknown, kinds: readonly string[]): void {
  const kind = isRecord(reply) ? reply["kind"] : undefined;
  if (typeof kind === "string" && kinds.includes(kind)) return;
  throw wrongReply(
    handler,
    reply,
    kinds.map((each) => `{ kind: "${each}" }`),
  );
}

function requireFewTools({ tools }: SamplingTools, { name, maxTools = Infinity }: ModelProvider): void {
  if (tools.length > maxTools) {
    throw invalidSampling(`it has ${tools.length} tools; the limit of the model ${name} is ${maxTools}`);
  }
}

/** Members that are undefined leave the request as it is. */
function defined(edit: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
}

function choiceOf(toolChoice: unknown): NonNullable<ModelRequest["toolChoice"]> {
  const mode = isRecord(toolChoice) ? toolChoice["mode"] : undefined;
  return mode === "required" || mode === "none" ? mode : "auto";
}

interface SizedRequest {
  system: string | undefined;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
}

/** About how many tokens a request has, in hundreds: enough to stop one that is too large before it is paid for. */
function estimatedTokens({ system = "", messages, tools }: SizedRequest): number {
  const parts = messages.flatMap(({ content }): readonly Part[] => content);
  const characters = parts.reduce((sum, part) => sum + lengthOf(part), system.length + JSON.stringify(tools).length);
  return Math.floor(characters / 400) * 100;
}

type Part = ModelMessage["content"][number];

function lengthOf(part: Part): number {
  // Images cost far less than their characters.
  if (part.type === "media") return textOfMedia(part)?.length ?? 0;
  if (part.type === "tool_result") return part.content.reduce((sum, each) => sum + lengthOf(each), 0);
  return JSON.stringify(part).length;
}

const STOP_REASONS: Record<ModelStopReason, string> = {
  end: "endTurn",
  tool_calls: "toolUse",
  length: "maxTokens",
  refused: "refusal",
  other: "other",
};

interface SampledAnswer {
  model: string;
  stopReason: ModelStopReason;
  text: string;
  toolCalls: readonly ToolCallPart[];
}

/** A list only if the model asks for tools, which no revision before 2025-11-25 offers to it. */
function samplingResult(answer: SampledAnswer, tools: SamplingTools): CreateMessageResult {
  const { model, stopReason, text, toolCalls } = answer;
  const calls = toolCalls.map(({ id, name, arguments: input }): Content => {
    return { type: "tool_use", id, name: tools.ownName(name), input };
  });
  const texts: Content[] = text === "" && calls.length > 0 ? [] : [{ type: "text", text }];
  const [only] = texts;
  const content = calls.length === 0 && only ? only : [...texts, ...calls];
  return { role: "assistant", model, content, stopReason: STOP_REASONS[stopReason] };
}

/** Hints beyond these have no effect on models that have to be looked for. */
const MAX_HINTS = 20;

/** Finds a model whose name contains the hint; undefined if there is none. */
type FindModel = (hint: string) => Promise<ModelProvider | undefined>;

/**
 * The model for a sampling request. Hints are parts of names, in the order of the server's preference: the user's models
 * come first, then those that `find` knows. Of the user's models that fit, the cheapest is chosen if the server wants low
 * costs most; nothing is known about speed and intelligence, so that the first one, which is the user's choice, is used
 * otherwise.
 */
export async function chooseModel(
  models: readonly ModelProvider[],
  preferences: unknown,
  find?: FindModel,
): Promise<ModelProvider | undefined> {
  const { hints, costPriority, speedPriority, intelligencePriority } = isRecord(preferences) ? preferences : {};
  const names = hintNames(hints);
  const fitting = findHinted(models, names);
  const found = fitting || !find ? undefined : await findFirst(names, find);
  if (found) return found;
  const others = Math.max(priority(speedPriority), priority(intelligencePriority));
  const choices = fitting ?? models;
  return priority(costPriority) > others ? cheapest(choices) : choices[0];
}

function hintNames(hints: unknown): string[] {
  return (Array.isArray(hints) ? hints : []).flatMap((hint: unknown) => {
    const name = isRecord(hint) ? hint["name"] : undefined;
    return typeof name === "string" && name.trim() !== "" ? [name.trim().toLowerCase()] : [];
  });
}

function findHinted(models: readonly ModelProvider[], names: readonly string[]): readonly ModelProvider[] | undefined {
  for (const name of names) {
    const fitting = models.filter((model) => model.name.toLowerCase().includes(name));
    if (fitting.length > 0) return fitting;
  }
  return undefined;
}

async function findFirst(names: readonly string[], find: FindModel): Promise<ModelProvider | undefined> {
  for (const name of names.slice(0, MAX_HINTS)) {
    const found = await find(name);
    if (found) return found;
  }
  return undefined;
}

/** Only among models whose prices are known; without any, the first one. */
function cheapest(models: readonly ModelProvider[]): ModelProvider | undefined {
  let best: { model: ModelProvider; price: number } | undefined;
  for (const model of models) {
    const price = model.prices && model.prices.input + model.prices.output;
    if (price !== undefined && (!best || price < best.price)) best = { model, price };
  }
  return best?.model ?? models[0];
}

function priority(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : 0;
}

/** The codes of a provider's failures must not be taken for failures of the server that asked. */
function samplingFailed(server: string, model: string, cause: unknown): NexusError {
  const message = `Server "${server}" asked for an answer of the model ${model}, which failed: ${messageOf(cause)}`;
  const hint = cause instanceof NexusError ? cause.details.hint : undefined;
  return new NexusError("INPUT_FAILED", message, { server, hint, cause });
}
