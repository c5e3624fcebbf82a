import { checkOptions } from "../../errors/check-options.ts";
import { setImmediate as nextRound } from "node:timers/promises";
import { NexusError, asNexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { ConsentDesk } from "../consent/consent-desk.ts";
import type {
  ModelMessage,
  UserMessage,
  AssistantMessage,
  ToolCallPart,
  TextPart,
  ToolResultPart,
} from "../model/model-message.ts";
import type { ModelProvider, Usage, ModelEvent, ModelRequest, ModelStopReason } from "../model/model-provider.ts";
import { addUsage, NO_USAGE, totalTokens } from "../model/usage.ts";
import { KeptResults } from "../tools/kept-results.ts";
import { LiveTools } from "../tools/live-tools.ts";
import { AGENT_OPTIONS, TURN_OPTIONS, type AgentOptions, type TurnOptions, type TurnResult } from "./agent-options.ts";
import { ToolRunner, type EndedCall } from "./tool-runner.ts";
import type { TurnEvent, StopReason, TurnStep } from "./turn-event.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { answerCalls, answerText } from "../model/answer-parts.ts";
import { within } from "../../async/within.ts";
import type { Host } from "../../host/host.ts";
import { contextBlocks, type ContextOptions } from "../../host/registry.ts";
import { originLine } from "../tools/origin.ts";
import { withServerWords } from "../tools/server-words.ts";
import { CallIds } from "../model/call-ids.ts";
import { cancelledResult } from "./conversation-history.ts";

const READ_MS = 5_000;
/** For all resources together: a message does not wait longer for its context. */
const ALL_MS = 10_000;

const MAX_STEPS = 50;
const SEARCH_ABOVE = 60;
const MAX_RESULT = 32_000;

/** A conversation between a user, a model and the tools of a host. It has one turn at a time. */
export class Agent {
  /** Can be changed between turns, and during one for its next request. */
  model: ModelProvider;
  readonly #options: AgentOptions;
  readonly #history: ConversationHistory;
  readonly #tools: LiveTools;
  readonly #runner: ToolRunner;
  #usage = NO_USAGE;
  #isBusy = false;
  /** For the first turn. */
  #notice: string | undefined;

  /** Throws ARGUMENTS_INVALID without a host or a model. */
  constructor(options: AgentOptions) {
    // Before what is missing: it may be there under another name.
    if (isRecord(options)) checkOptions("Agent", options, AGENT_OPTIONS);
    requireParts(options);
    const { host, model, name: agent, searchAbove = SEARCH_ABOVE, maxResult = MAX_RESULT } = options;
    const { consent = new ConsentDesk(), input } = options;
    this.model = model;
    this.#options = options;
    this.#history = new ConversationHistory(options.messages ?? []);
    const results = new KeptResults(maxResult, this.messages);
    const maxTools = () => this.model.maxTools ?? Infinity;
    this.#tools = new LiveTools({ host, agent, searchAbove, maxTools, results });
    this.#runner = new ToolRunner({ host, tools: this.#tools, results, consent, input, agent });
    this.#notice = input && undeclared(input.capabilities, host.capabilities);
  }

  /** The conversation so far. At the end of a turn every provider accepts it. */
  get messages(): readonly ModelMessage[] {
    return this.#history.messages;
  }

  /** Of all turns of this agent. */
  get usage(): Usage {
    return this.#usage;
  }

  /**
   * Sends a message of the user, and runs until the model has answered without tool calls, or something stops the turn.
   * Failures are in the result, so that what was done is not lost; rejects only if a turn is running.
   */
  async send(content: string | UserMessage["content"], options: TurnOptions = {}): Promise<TurnResult> {
    checkOptions("a turn", options, TURN_OPTIONS);
    if (this.#isBusy) {
      throw new NexusError("BUSY", "The agent is in a turn", { hint: "Wait for its end, or abort its signal." });
    }
    this.#isBusy = true;
    try {
      const { signal = new AbortController().signal, onEvent } = options;
      const parts: UserMessage["content"] = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const takeBack = await this.#addUser(parts, signal);
      const result = await this.#turn(signal, onEvent).run();
      this.#usage = addUsage(this.#usage, result.usage);
      // Otherwise it would be sent again with the next message, and what was refused would be refused for ever.
      return result.stopReason !== "end" && takeBack() ? { ...result, isTakenBack: true } : result;
    } finally {
      this.#isBusy = false;
    }
  }

  async #addUser(content: UserMessage["content"], signal: AbortSignal): Promise<() => boolean> {
    const { context, host, name: agent } = this.#options;
    const parts =
      context && !signal.aborted ? await contextParts(host, { ...context, agent, signal }, this.messages) : [];
    return this.#history.addUser([...parts, ...content]);
  }

  #turn(signal: AbortSignal, given: TurnOptions["onEvent"]): Turn {
    const { system, maxSteps = MAX_STEPS, budget = Infinity } = this.#options;
    const onEvent = (event: TurnEvent) => {
      try {
        given?.(event);
      } catch {
        // A program that fails to show an event must not lose what the turn does.
      }
    };
    if (this.#notice !== undefined) onEvent({ type: "notice", text: this.#notice });
    this.#notice = undefined;
    return new Turn({
      model: () => this.model,
      history: this.#history,
      tools: this.#tools,
      runner: this.#runner,
      system,
      maxSteps,
      budget,
      signal,
      onEvent,
    });
  }
}

/** The host reads the lists of tools, so what only the agent declares does not change them. Undefined if nothing is missing. */
function undeclared(wanted: ClientCapabilities, declared: ClientCapabilities): string | undefined {
  const missing = (["sampling", "elicitation"] as const).filter((name) => wanted[name] && !declared[name]);
  if (missing.length === 0) return undefined;
  return (
    `The host was opened without ${missing.join(" and ")}, so servers may not list tools that need it. ` +
    `Pass the same "input" to Host.open() and to new Agent().`
  );
}

/** In JavaScript nothing else tells that one is missing, or that `await` is, before the first message. */
function requireParts(options: { [part in "host" | "model"]?: unknown } | undefined): void {
  const parts = [
    { part: "host", method: "callTool", hint: "Pass the result of: await Host.open({ servers })" },
    { part: "model", method: "stream", hint: `Pass the result of: await openModel("provider:model")` },
  ] as const;
  for (const { part, method, hint } of parts) {
    const given = options?.[part];
    if (isRecord(given) && typeof given[method] === "function") continue;
    const what = given instanceof Promise ? "is a promise" : given === undefined ? "is missing" : "is not valid";
    throw new NexusError("ARGUMENTS_INVALID", `The option "${part}" of new Agent() ${what}`, {
      hint,
      mayHaveReached: false,
    });
  }
}

interface TurnContext {
  model: () => ModelProvider;
  history: ConversationHistory;
  tools: LiveTools;
  runner: ToolRunner;
  system: string | undefined;
  maxSteps: number;
  budget: number;
  signal: AbortSignal;
  onEvent: (event: TurnEvent) => void;
}

/** Calls of one answer that run. */
const MAX_CALLS = 100;

/** From a message of the user to the end of the model's work for it. */
class Turn {
  readonly #context: TurnContext;
  readonly #steps: TurnStep[] = [];
  #usage = NO_USAGE;
  #text = "";
  /** Answers with tool calls. */
  #rounds = 0;

  constructor(context: TurnContext) {
    this.#context = context;
  }

  async run(): Promise<TurnResult> {
    const { maxSteps, budget, signal, history } = this.#context;
    const isAsked = history.messages.at(-1)?.role === "user";
    if (!isAsked) return this.#stop("error", new NexusError("ARGUMENTS_INVALID", "The message is empty"));
    for (;;) {
      if (signal.aborted) return this.#stop("cancelled");
      if (this.#rounds >= maxSteps) return this.#stop("steps");
      if (totalTokens(this.#usage) >= budget) return this.#stop("budget");
      const answer = await this.#ask();
      const stopped = answer.kind === "broken" ? this.#break(answer) : await this.#take(answer);
      if (stopped) return stopped;
    }
  }

  async #ask(): Promise<ModelAnswer> {
    const { model, history, tools, system, signal, onEvent } = this.#context;
    await unlessAborted(tools.settle(), signal).catch(() => {});
    const definitions = tools.definitions();
    const messages = withServerWords(history.messages, tools.introductions);
    const request = { system, messages, tools: definitions.length > 0 ? definitions : undefined };
    return readAnswer(model(), request, { signal, onEvent });
  }

  /** The request failed or was cancelled: text that had come is kept, tool calls are not. */
  #break({ text, error }: Extract<ModelAnswer, { kind: "broken" }>): TurnResult {
    this.#text = text;
    this.#context.history.addText({ role: "assistant", content: [{ type: "text", text }] });
    return this.#context.signal.aborted ? this.#stop("cancelled") : this.#stop("error", error);
  }

  /** Undefined if the turn goes on. */
  async #take(answer: Extract<ModelAnswer, { kind: "complete" }>): Promise<TurnResult | undefined> {
    const { history, onEvent, model } = this.#context;
    const message = history.withOwnIds(answer.message);
    const calls = answerCalls(message);
    this.#usage = addUsage(this.#usage, answer.usage);
    this.#text = answerText(message);
    onEvent({ type: "answer", usage: answer.usage });
    if (answer.stopReason === "length")
      onEvent({ type: "notice", text: `The answer of ${model().name} was cut off at its token limit.` });
    if (answer.stopReason === "refused") {
      history.addText(message);
      const text = `The provider of the model ${model().name} refused the content`;
      return this.#stop(
        "error",
        new NexusError("SERVER_ERROR", text, { hint: "Change the message, or use another model." }),
      );
    }
    if (calls.length === 0) {
      history.addText(message);
      return this.#stop("end");
    }
    await this.#runCalls(message, calls);
    return undefined;
  }

  async #runCalls(message: AssistantMessage, calls: readonly ToolCallPart[]): Promise<void> {
    const { history, runner, signal, onEvent } = this.#context;
    this.#rounds++;
    const running: Promise<EndedCall>[] = [];
    for (const call of calls.slice(0, MAX_CALLS)) {
      // They run at the same time, but preparing many of them must not block everything else.
      if (running.length > 0) await nextRound();
      running.push(runner.run(call, { signal, onEvent }));
    }
    const rest = calls.slice(MAX_CALLS);
    if (rest.length > 0) onEvent({ type: "notice", text: tooManyCalls(calls.length) });
    const finished = [
      ...(await Promise.all(running)),
      ...rest.map((call) => runner.refuse(call, tooManyCalls(calls.length))),
    ];
    for (const { step } of finished) this.#steps.push(step);
    history.addCalls(
      message,
      finished.map(({ result }) => result),
    );
  }

  #stop(stopReason: StopReason, error?: NexusError): TurnResult {
    const result = { text: this.#text, steps: this.#steps, usage: this.#usage, stopReason };
    return error ? { ...result, error } : result;
  }
}

function tooManyCalls(count: number): string {
  return `The answer has ${count} tool calls. Only the first ${MAX_CALLS} were made.`;
}

/** The end of one request to a model. */
type ModelAnswer =
  | { kind: "complete"; message: AssistantMessage; stopReason: ModelStopReason; usage: Usage }
  /** `text`: what had come until then. */
  | { kind: "broken"; text: string; error: NexusError };

interface AnswerOptions {
  signal: AbortSignal;
  onEvent: (event: TurnEvent) => void;
}

/** How long a provider has to end a request that nobody waits for. */
const END_MS = 1_000;

/** Reads one answer. Does not throw; an aborted signal ends it, also if the provider does not react. */
async function readAnswer(
  model: ModelProvider,
  request: ModelRequest,
  { signal, onEvent }: AnswerOptions,
): Promise<ModelAnswer> {
  let text = "";
  let events: AsyncIterator<ModelEvent> | undefined;
  try {
    events = model.stream(request, { signal })[Symbol.asyncIterator]();
    for (;;) {
      const next = await unlessAborted(events.next(), signal);
      if (next.done) break;
      const event = next.value;
      if (event.type === "end") {
        const { message, stopReason, usage } = event;
        return { kind: "complete", message, stopReason, usage };
      }
      if (event.type === "text") text += event.text;
      if (event.type !== "tool_call") onEvent(event);
    }
    const message = `The answer of the model ${model.name} ended too early`;
    return { kind: "broken", text, error: new NexusError("PROTOCOL_VIOLATION", message, { hint: "Try again." }) };
  } catch (error) {
    return { kind: "broken", text, error: asNexusError(error) };
  } finally {
    if (events) await end(events);
  }
}

/** A provider that fails now has nothing to add: the answer is complete or broken already. */
async function end(events: AsyncIterator<ModelEvent>): Promise<void> {
  const ended = (async () => events.return?.())().catch(() => undefined);
  await within(ended, END_MS);
}

/** Important resources for the next message: those that are not in the conversation yet, or have changed since. */
async function contextParts(
  host: Host,
  options: ContextOptions,
  messages: readonly ModelMessage[],
): Promise<TextPart[]> {
  const texts = messages
    .flatMap((message) => (message.role === "user" ? message.content : []))
    .flatMap((part) => (part.type === "text" ? [part.text] : []));
  const late = AbortSignal.timeout(ALL_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  const blocks = await contextBlocks(host, { timeoutMs: READ_MS, ...options, signal });
  const byLabel = new Map<string, string[]>();
  for (const { server, uri, text } of blocks) {
    const label = `${originLine({ server, resource: uri })}\n`;
    byLabel.set(label, [...(byLabel.get(label) ?? []), text]);
  }
  return [...byLabel].flatMap(([label, contents]) => {
    const text = label + contents.join("\n");
    const isKnown = texts.findLast((each) => each.startsWith(label)) === text;
    return isKnown ? [] : [{ type: "text" as const, text }];
  });
}

/**
 * The messages of a conversation, in an order that every provider accepts: user and assistant alternate, each tool call
 * has one result in the next message, and nothing is empty.
 */
class ConversationHistory {
  readonly #messages: ModelMessage[] = [];
  readonly #ids = new Set<string>();

  constructor(messages: readonly ModelMessage[]) {
    for (const [at, message] of messages.entries()) {
      if (message.role === "user") this.addUser(message.content);
      else if (message.role === "assistant") this.#restore(message, messages[at + 1]);
    }
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /**
   * A user message after another one continues it. Returns a function that takes the message out again; it does nothing
   * and returns false after an answer.
   */
  addUser(content: UserMessage["content"]): () => boolean {
    const parts = content.filter((part) => part.type !== "text" || !isBlank(part.text));
    if (parts.length === 0) return () => false;
    const last = this.#messages.at(-1);
    const before = last?.role === "user" ? [last] : [];
    const added: ModelMessage = { role: "user", content: [...before.flatMap((message) => message.content), ...parts] };
    this.#messages.splice(this.#messages.length - before.length, before.length, added);
    return () => {
      if (this.#messages.at(-1) !== added) return false;
      this.#messages.splice(-1, 1, ...before);
      return true;
    };
  }

  /** An answer without tool calls. */
  addText(message: AssistantMessage): void {
    const content = message.content.filter((part) => part.type !== "tool_call");
    this.#addAnswer({ role: "assistant", content });
  }

  /** An answer with tool calls and their results, in the same order. */
  addCalls(message: AssistantMessage, results: readonly ToolResultPart[]): void {
    this.#addAnswer(message);
    for (const { id } of answerCalls(message)) this.#ids.add(id);
    this.#messages.push({ role: "tool", content: results });
  }

  /** The message with ids that no call of the conversation has: some providers count again in every answer. */
  withOwnIds(message: AssistantMessage): AssistantMessage {
    const ids = new CallIds(this.#ids);
    const content = message.content.map((part) => {
      if (part.type !== "tool_call") return part;
      const id = ids.take(part.id);
      return id === part.id ? part : { ...part, id };
    });
    return { role: "assistant", content };
  }

  #addAnswer(message: AssistantMessage): void {
    const content = message.content.filter((part) => part.type !== "text" || !isBlank(part.text));
    // Reasoning alone is not an answer.
    if (!content.some(({ type }) => type !== "reasoning")) return;
    const last = this.#messages.at(-1);
    if (last?.role === "assistant") {
      this.#messages[this.#messages.length - 1] = { role: "assistant", content: [...last.content, ...content] };
    } else this.#messages.push({ role: "assistant", content });
  }

  /** A message of an earlier session; results that it lacks are added. */
  #restore(message: AssistantMessage, next: ModelMessage | undefined): void {
    const calls = answerCalls(message);
    if (calls.length === 0) return this.addText(message);
    const results = next?.role === "tool" ? next.content : [];
    this.addCalls(
      message,
      calls.map((call) => results.find(({ id }) => id === call.id) ?? cancelledResult(call)),
    );
  }
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
