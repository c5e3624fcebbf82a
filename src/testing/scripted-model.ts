import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { unlessAborted } from "../async/unless-aborted.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { ReasoningPart, TextPart, ToolCallPart } from "../agent/model/model-message.ts";
import type {
  ModelCallOptions,
  ModelEvent,
  ModelPrices,
  ModelProvider,
  ModelRequest,
  ModelStopReason,
  Usage,
} from "../agent/model/model-provider.ts";

/** One thing that a scripted model does, in the order of the script. */
export type ScriptedMove =
  | { text: string }
  | { reasoning: string; metadata?: Readonly<Record<string, unknown>> }
  /** Calls a tool; default of `id`: a new one. */
  | { call: string; arguments?: unknown; id?: string }
  /** Says that the provider is asked again after this time; does not wait. */
  | { wait: number; reason?: string }
  /** Called at this point; the model goes on when what it returns is settled, or fails when the signal is aborted. */
  | { hook: (signal: AbortSignal) => unknown }
  /** Fails here. */
  | { error: Error }
  | { usage: Usage }
  | { stop: ModelStopReason };

/** A text, moves, or a function that chooses them by the request. */
export type ScriptedAnswer = string | readonly ScriptedMove[] | ScriptedChoice;

/** `index`: how many answers came before. */
export type ScriptedChoice = (request: ModelRequest, index: number) => ChosenAnswer | Promise<ChosenAnswer>;

type ChosenAnswer = string | readonly ScriptedMove[];

export interface ScriptedModelOptions {
  /** Default: `scripted:model`. */
  name?: string | undefined;
  prices?: ModelPrices | undefined;
}

const OPTIONS: OptionNames<ScriptedModelOptions> = {
  name: true,
  prices: true,
};

const USAGE: Usage = { inputTokens: 10, outputTokens: 5 };

/** A model for tests that gives the answers of a script, one for each request, or those of a function. */
export class ScriptedModel implements ModelProvider {
  readonly name: string;
  readonly prices: ModelPrices | undefined;
  /** Every request, as it was when it was made. */
  readonly requests: ModelRequest[] = [];
  /** The number of answers that have begun and not ended. */
  pending = 0;
  /** The number of answers that were aborted. */
  aborted = 0;
  readonly #answers: ScriptedAnswer[];
  readonly #always: ScriptedChoice | undefined;
  #calls = 0;

  constructor(answers: readonly ScriptedAnswer[] | ScriptedChoice, options: ScriptedModelOptions = {}) {
    checkOptions("ScriptedModel", options, OPTIONS);
    this.name = options.name ?? "scripted:model";
    this.prices = options.prices;
    this.#answers = typeof answers === "function" ? [] : [...answers];
    this.#always = typeof answers === "function" ? answers : undefined;
  }

  /** Adds answers to the end of the script. */
  add(...answers: readonly ScriptedAnswer[]): this {
    this.#answers.push(...answers);
    return this;
  }

  async *stream(request: ModelRequest, { signal }: ModelCallOptions): AsyncGenerator<ModelEvent> {
    const index = this.requests.push(structuredClone(request)) - 1;
    const abort = signal ?? new AbortController().signal;
    this.pending++;
    try {
      yield* this.#play(await this.#choose(request, index), abort);
    } finally {
      this.pending--;
      if (abort.aborted) this.aborted++;
    }
  }

  async #choose(request: ModelRequest, index: number): Promise<readonly ScriptedMove[]> {
    const answer = this.#answers.shift() ?? this.#always;
    if (answer === undefined) {
      throw new NexusError("INTERNAL", `The script of the model ${this.name} has no answer for request ${index + 1}`);
    }
    const chosen = typeof answer === "function" ? await answer(request, index) : answer;
    return typeof chosen === "string" ? [{ text: chosen }] : chosen;
  }

  async *#play(moves: readonly ScriptedMove[], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const content: (TextPart | ReasoningPart | ToolCallPart)[] = [];
    let usage = USAGE;
    let stopReason: ModelStopReason | undefined;
    for (const move of moves) {
      if (signal.aborted) throw cancelled(signal);
      if ("error" in move) throw move.error;
      if ("hook" in move) await unlessAborted(Promise.resolve(move.hook(signal)), signal);
      else if ("usage" in move) usage = move.usage;
      else if ("stop" in move) stopReason = move.stop;
      else if ("wait" in move) yield { type: "wait", ms: move.wait, reason: move.reason ?? "rate limit" };
      else {
        const part = this.#partOf(move);
        const last = content.at(-1);
        // A text comes in pieces, and is one part of the message.
        if (part.type === "text" && last?.type === "text") content[content.length - 1] = joined(last, part);
        else content.push(part);
        yield part.type === "tool_call" ? { type: "tool_call", call: part } : { type: part.type, text: part.text };
      }
    }
    if (signal.aborted) throw cancelled(signal);
    stopReason ??= content.some(({ type }) => type === "tool_call") ? "tool_calls" : "end";
    yield { type: "end", stopReason, usage, message: { role: "assistant", content } };
  }

  #partOf(
    move: Extract<ScriptedMove, { text: string } | { reasoning: string } | { call: string }>,
  ): TextPart | ReasoningPart | ToolCallPart {
    if ("text" in move) return { type: "text", text: move.text };
    if ("reasoning" in move) {
      return { type: "reasoning", text: move.reasoning, ...(move.metadata && { metadata: move.metadata }) };
    }
    const id = move.id ?? `call-${++this.#calls}`;
    return { type: "tool_call", id, name: move.call, arguments: move.arguments ?? {} };
  }
}

function joined(one: TextPart, other: TextPart): TextPart {
  return { type: "text", text: one.text + other.text };
}

function cancelled(signal: AbortSignal): NexusError {
  return new NexusError("CANCELLED", "The request to the model was cancelled", { cause: signal.reason });
}
