import { setImmediate as nextRound } from "node:timers/promises";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { answerCalls, answerText } from "../model/answer-parts.ts";
import type { AssistantMessage, ToolCallPart } from "../model/model-message.ts";
import type { ModelProvider } from "../model/model-provider.ts";
import { addUsage, NO_USAGE, totalTokens } from "../model/usage.ts";
import type { LiveTools } from "../tools/live-tools.ts";
import type { TurnResult } from "./agent-options.ts";
import type { ConversationHistory } from "./conversation-history.ts";
import { readAnswer, type ModelAnswer } from "./model-answer.ts";
import type { EndedCall, ToolRunner } from "./tool-runner.ts";
import type { StopReason, TurnEvent, TurnStep } from "./turn-event.ts";

export interface TurnContext {
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
export class Turn {
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
    const request = { system, messages: history.messages, tools: definitions.length > 0 ? definitions : undefined };
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
