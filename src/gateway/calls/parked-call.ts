import type { CallOptions } from "../../client/conversation/call-scope.ts";
import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Question } from "../../protocol/mcp.ts";
import type { GatewayExchange } from "../names/view.ts";
import { ParkedQuestions } from "../upstream/parked-questions.ts";
import { tellLog, tellProgress, traceFor } from "../upstream/upstream-reports.ts";

/** A caller that waits for the next reply of a call. */
export type Listener = Pick<GatewayExchange, "caller" | "signal">;

/** A reply to the caller: the result, or the questions that it must answer first. */
export type Reply = { kind: "ended"; result: Result } | { kind: "asked"; questions: Record<string, Question> };

/** The call at the server. It runs once, no matter how often its caller comes back. */
export type Work = (options: WorkOptions) => Promise<Result>;

interface WorkOptions extends CallOptions {
  signal: CancelSignal;
  input: InputProvider;
}

/**
 * A call whose server asks questions while it runs, for a caller that gets questions as a result and comes back with
 * answers. The call stays open at the server; its progress is kept until the caller is back.
 */
export class ParkedCall {
  /** Resolves when the call has ended at the server. Never rejects. */
  readonly over: Promise<void>;
  readonly #questions = new ParkedQuestions(() => this.#gather());
  readonly #cancelled = new Cancellation();
  readonly #gatherMs: number;
  /** The callers that wait now, and the function that removes their abort listener. */
  readonly #listeners = new Map<Listener, () => void>();
  #outcome: { result: Result } | { error: unknown } | undefined;
  #turn: { resolve: (reply: Reply) => void; reject: (error: unknown) => void } | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(
    work: Work,
    { first, capabilities, gatherMs }: { first: GatewayExchange; capabilities: ClientCapabilities; gatherMs: number },
  ) {
    this.#gatherMs = gatherMs;
    const { caller } = first;
    const options: WorkOptions = {
      correlationId: first.correlationId,
      trace: traceFor(first),
      observed: first,
      signal: this.#cancelled,
      input: { capabilities, handle: (question, { signal }) => this.#questions.ask(question, signal) },
    };
    if (caller.progressToken !== undefined) options.onProgress = (progress) => this.#tell(tellProgress, progress);
    if (caller.logLevel) {
      options.logLevel = caller.logLevel;
      options.onNotification = (said) => this.#tell(tellLog, said);
    }
    this.over = work(options).then(
      (result) => this.#settle({ result }),
      (error: unknown) => this.#settle({ error }),
    );
  }

  /** Waits for the next reply. If there is one already, resolves at once. */
  next(listener: Listener): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#turn = { resolve, reject };
      this.attend(listener);
      if (this.#outcome || this.#questions.size > 0) this.#reply();
    });
  }

  /** Adds a caller that waits for the next reply. If all of them leave before it comes, the call is cancelled. */
  attend(listener: Listener): void {
    if (!this.#turn) return;
    const left = () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#cancelled.abort(listener.signal.reason);
    };
    this.#listeners.set(listener, left);
    if (listener.signal.aborted) left();
    else listener.signal.addEventListener("abort", left, { once: true });
  }

  /** Continues with these answers. Questions without an answer are asked again. */
  answer(responses: unknown, listener: Listener): Promise<Reply> {
    this.#questions.answer(responses);
    return this.next(listener);
  }

  /** Refuses open questions and cancels the call at the server, because the caller will not come back. */
  giveUp(reason: string): void {
    this.#questions.refuse();
    // The refusals must be sent before the cancellation; sending them takes several microtasks.
    queueMicrotask(() => process.nextTick(() => this.#cancelled.abort(new NexusError("CANCELLED", reason))));
  }

  #tell<T>(tell: (caller: GatewayExchange["caller"], said: T) => void, said: T): void {
    for (const { caller } of this.#listeners.keys()) tell(caller, said);
  }

  /**
   * Servers often ask several questions one after the other: waits a moment, so that they reach the caller together.
   */
  #gather(): void {
    if (this.#turn) this.#gathering ??= setTimeout(() => this.#reply(), this.#gatherMs);
  }

  #settle(outcome: { result: Result } | { error: unknown }): void {
    this.#outcome = outcome;
    this.#reply();
  }

  #reply(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const turn = this.#turn;
    if (!turn || (!this.#outcome && this.#questions.size === 0)) return;
    this.#turn = undefined;
    for (const [{ signal }, left] of this.#listeners) signal.removeEventListener("abort", left);
    this.#listeners.clear();
    if (!this.#outcome) turn.resolve({ kind: "asked", questions: this.#questions.requests() });
    else if ("error" in this.#outcome) turn.reject(this.#outcome.error);
    else turn.resolve({ kind: "ended", result: this.#outcome.result });
  }
}
