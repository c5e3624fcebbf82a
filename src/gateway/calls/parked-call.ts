import type { CallOptions } from "../../client/conversation/call-scope.ts";
import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Question } from "../../protocol/mcp.ts";
import type { GatewayExchange } from "../names/view.ts";
import { ParkedQuestions } from "../upstream/parked-questions.ts";
import { tellLog, tellProgress } from "../upstream/upstream-reports.ts";

/** Who waits for the next words of a call. */
export type Listener = Pick<GatewayExchange, "caller" | "signal">;

/** What a caller is told: the end, or what is asked of it first. */
export type Reply = { kind: "ended"; result: Result } | { kind: "asked"; questions: Record<string, Question> };

/** The call itself. It runs once, however often its caller comes back. */
export type Work = (options: WorkOptions) => Promise<Result>;

/** What the work is done with. */
interface WorkOptions extends CallOptions {
  signal: CancelSignal;
  input: InputProvider;
}

/**
 * A call to a server that asks in the middle of it, made by a caller that is asked with an answer and comes back. The
 * call stays open at the server meanwhile; what happens to it then is kept for the caller's return.
 */
export class ParkedCall {
  /** Settles when nothing of the call is left at the server. Never rejects. */
  readonly over: Promise<void>;
  readonly #questions = new ParkedQuestions(() => this.#gather());
  readonly #cancelled = new Cancellation();
  readonly #gatherMs: number;
  /** Those who wait now, and how to stop watching whether they left. */
  readonly #listeners = new Map<Listener, () => void>();
  #outcome: { result: Result } | { error: unknown } | undefined;
  #turn: { resolve: (reply: Reply) => void; reject: (error: unknown) => void } | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(
    work: Work,
    {
      first,
      capabilities,
      gatherMs,
    }: { first: GatewayExchange["caller"]; capabilities: ClientCapabilities; gatherMs: number },
  ) {
    this.#gatherMs = gatherMs;
    const options: WorkOptions = {
      signal: this.#cancelled,
      input: { capabilities, handle: (question, { signal }) => this.#questions.ask(question, signal) },
    };
    if (first.progressToken !== undefined) options.onProgress = (progress) => this.#tell(tellProgress, progress);
    if (first.trace) options.trace = first.trace;
    if (first.logLevel) {
      options.logLevel = first.logLevel;
      options.onNotification = (said) => this.#tell(tellLog, said);
    }
    this.over = work(options).then(
      (result) => this.#settle({ result }),
      (error: unknown) => this.#settle({ error }),
    );
  }

  /** Waits until there is something to tell. What came while nobody waited is told at once. */
  next(listener: Listener): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#turn = { resolve, reject };
      this.attend(listener);
      if (this.#outcome || this.#questions.size > 0) this.#reply();
    });
  }

  /** Waits together with whoever waits already. When all have left before they were told anything, the call is cancelled. */
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

  /** Goes on with these answers; those that are missing are asked for again. */
  answer(responses: unknown, listener: Listener): Promise<Reply> {
    this.#questions.answer(responses);
    return this.next(listener);
  }

  /** Nobody comes back: what is asked is refused, and the server told that nobody waits. */
  giveUp(reason: string): void {
    this.#questions.refuse();
    // The refusals leave first, which takes some promises, but nothing that the server says is heard in between.
    queueMicrotask(() => process.nextTick(() => this.#cancelled.abort(new NexusError("CANCELLED", reason))));
  }

  #tell<T>(tell: (caller: GatewayExchange["caller"], said: T) => void, said: T): void {
    for (const { caller } of this.#listeners.keys()) tell(caller, said);
  }

  /** Servers that ask several things ask them one after the other: the first is not told before the others had time. */
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
