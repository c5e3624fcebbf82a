import { Cancellation } from "../../async/cancellation.ts";
import { IdTable } from "../../async/id-table.ts";
import { callListener } from "../../async/call-listener.ts";
import { Deadlines } from "../../async/deadlines.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import {
  INVALID_REQUEST,
  isNotification,
  isResponse,
  type Message,
  type Request,
  type RequestId,
  type Response,
} from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import { Receipt, recordedAnswer } from "../core/receipt.ts";
import { servedRevisions } from "../core/core.ts";
import { answerModern, eraOf } from "../modern/modern-request.ts";
import { LegacySession, type SessionOptions } from "./legacy-session.ts";
import type { RequestChannel } from "./request-channel.ts";

/** One client on a connection that carries everything, a pipe or memory: each request is answered in its own era. */
export class DuplexConversation {
  readonly #options: Omit<SessionOptions, "deadlines">;
  readonly #session: LegacySession;
  readonly #running = new IdTable<ModernCall>();
  /** How many requests will be answered: all but subscriptions, which have no end of their own. */
  #waiting = 0;
  readonly #onQuiet = new Set<() => void>();
  /** Set by the first request, and never changed: what carries no mark of its own is of that era. */
  #firstEra: Era | undefined;

  constructor(options: Omit<SessionOptions, "deadlines">) {
    this.#options = options;
    this.#session = new LegacySession({ ...options, deadlines: new Deadlines() });
  }

  get takesBatches(): boolean {
    return this.#session.takesBatches;
  }

  /** `channel`: the way back, for a request. */
  receive(message: Message, channel: () => RequestChannel): void {
    if (isResponse(message)) return this.#session.settle(message);
    if (isNotification(message)) {
      if (message.method === "notifications/cancelled") this.#cancel(message.params?.["requestId"] as RequestId);
      return this.#session.notified(message);
    }
    const { id, params = {} } = message;
    if (!isRecord(params)) return channel().finish(refusal(id, `"params" must be an object`));
    if (this.#isModern(message)) callListener(() => this.#answer(message, channel()), this.#options.logger);
    else this.#session.request(message, this.#counted(channel()));
  }

  /** The client can say no more, though it may still read. */
  stopListening(): void {
    this.#session.stopAsking();
    for (const { id, isSubscription } of this.#running.values()) if (isSubscription) this.#cancel(id);
  }

  /** Resolves when everything is answered. */
  async quiet(): Promise<void> {
    if (this.#waiting > 0) await new Promise<void>((resolve) => this.#onQuiet.add(resolve));
  }

  /** Calls off what is left; it gets no answer. */
  async close(): Promise<void> {
    for (const { id } of this.#running.values()) this.#cancel(id);
    await this.#session.close();
  }

  /** What a request says of its era decides; then whether there is a session; then what the first request was. */
  #isModern(request: Request): boolean {
    const era = eraOf(request, servedRevisions(this.#options.core));
    this.#firstEra ??= era ?? "legacy";
    return (era ?? (this.#session.version === undefined ? this.#firstEra : "legacy")) === "modern";
  }

  async #answer(request: Request, channel: RequestChannel): Promise<void> {
    const { core, principal, logger } = this.#options;
    const { id, method } = request;
    if (this.#running.get(id)) return channel.finish(refusal(id, "A request with this id is already running"));
    const signal = new Cancellation();
    const isSubscription = method === "subscriptions/listen";
    this.#running.set(id, { id, signal, isSubscription });
    if (!isSubscription) this.#waiting++;
    let isOver = false;
    const send = (message: Message) => {
      if (!signal.aborted && !isOver) channel.send(message);
    };
    const receipt = new Receipt(undefined);
    const answer = await answerModern({ core, principal, request, receipt, signal, send, logger });
    // Nothing follows the answer, whatever its handler still has to say.
    isOver = true;
    const apart = channel.afterProgress?.();
    if (apart) await apart;
    const waiting = signal.aborted ? undefined : recordedAnswer(answer, receipt, channel.isInProcess);
    if (!waiting) receipt.leave();
    const recorded = waiting instanceof Promise ? await waiting : waiting;
    if (!signal.aborted) this.#running.delete(id);
    // A cancelled request gets no answer.
    if (recorded && !signal.aborted) channel.finish(recorded.answer, recorded.text);
    else channel.finish(undefined);
    if (!isSubscription) this.#answered();
  }

  #cancel(id: RequestId): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.signal.abort(new NexusError("CANCELLED", "The client cancelled the request"));
  }

  #counted(channel: RequestChannel): RequestChannel {
    this.#waiting++;
    let isOpen = true;
    return {
      canStream: channel.canStream,
      isInProcess: channel.isInProcess ?? false,
      send: (message) => channel.send(message),
      afterProgress: () => channel.afterProgress?.(),
      finish: (answer, text) => {
        channel.finish(answer, text);
        if (isOpen) this.#answered();
        isOpen = false;
      },
    };
  }

  #answered(): void {
    if (--this.#waiting > 0) return;
    for (const resolve of this.#onQuiet) resolve();
    this.#onQuiet.clear();
  }
}

interface ModernCall {
  id: RequestId;
  signal: Cancellation;
  isSubscription: boolean;
}

function refusal(id: RequestId, message: string): Response {
  return { jsonrpc: "2.0", id, error: { code: INVALID_REQUEST, message } };
}
