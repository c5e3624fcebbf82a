import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ErrorObject, Params, RequestId, Response, Result } from "../../protocol/json-rpc.ts";
import { withoutNestedItems } from "../../protocol/nested-items.ts";
import { isNestedDeeper, MAX_NESTING } from "../../json/nesting.ts";
import type { Delivery, ResponseHeaders, ResumePoint, Sending, StreamEnd } from "../../transport/transport.ts";
import type { CallScope, Stoppable } from "./call-scope.ts";
import { refusalError, rpcHint } from "../../transport/refusal.ts";
import { ResumableStream } from "./resumable-stream.ts";

export interface Outgoing {
  /** From `reserveId`, or a name. */
  id: RequestId;
  method: string;
  params?: Params | undefined;
  headers?: Record<string, string> | undefined;
  onHead?: ((headers: ResponseHeaders) => void) | undefined;
  /** Whether a stream that was cut may be resumed. */
  resumable?: boolean;
  /** Whether the server is notified of a cancellation; the stream is closed in either case. */
  cancelBy: "notification" | "stream";
}

/** The parts of a peer that a pending request uses. */
export interface PendingOwner {
  forget(pending: PendingRequest): void;
  cancel(pending: PendingRequest, reason: string): void;
  resume(pending: PendingRequest, point: ResumePoint, end: StreamEnd): Sending | undefined;
  describe(error: NexusError): NexusError;
  /** Whether the connection is about to be lost, which says why no answer comes. */
  readonly isEnding: boolean;
  /** Reports list items that were skipped because they are nested too deeply. */
  leftOut(method: string, names: readonly string[]): void;
}

interface Settle {
  resolve(result: Result): void;
  reject(error: NexusError): void;
}

/** A request that waits for its answer. The transport reports to it. */
export class PendingRequest implements Delivery, Stoppable {
  readonly outgoing: Outgoing;
  readonly scope: CallScope;
  sending: Sending | undefined;
  readonly #owner: PendingOwner;
  readonly #settle: Settle;
  #isOver = false;

  constructor(owner: PendingOwner, outgoing: Outgoing, scope: CallScope, settle: Settle) {
    this.#owner = owner;
    this.outgoing = outgoing;
    this.scope = scope;
    this.#settle = settle;
  }

  get headers(): Record<string, string> | undefined {
    return this.outgoing.headers;
  }

  get onHead(): ((headers: ResponseHeaders) => void) | undefined {
    return this.outgoing.onHead;
  }

  onEnd(end: StreamEnd): void {
    if (this.#isOver) return;
    const point = end.kind !== "refused" && this.outgoing.resumable ? end.resume : undefined;
    if (point) {
      this.sending = this.#owner.resume(this, point, end) ?? this.sending;
      if (end.kind === "ended") this.scope.options.onStreamPaused?.(end.retryMs);
    } else if (end.kind === "refused") this.fail(refusalError(end));
    else if (end.kind === "failed") this.fail(end.error);
    else this.fail(endedWithoutAnswer(this.outgoing.method));
  }

  answer(response: Response): void {
    if (!this.#finishOnce()) return;
    this.sending?.finish?.();
    if (!("result" in response) || !isRecord(response.result)) {
      this.#settle.reject(answerError(response, this.outgoing.method));
    } else if (isNestedDeeper(response.result)) this.#answerNested(response.result);
    else this.#settle.resolve(response.result);
  }

  /** Skips the items of a list that are nested too deeply; any other result is an error. */
  #answerNested(result: Result): void {
    const { method } = this.outgoing;
    const flattened = withoutNestedItems(method, result);
    if (!flattened) return this.#settle.reject(tooNested(method));
    this.#owner.leftOut(method, flattened.leftOut);
    this.#settle.resolve(flattened.result);
  }

  fail(error: NexusError): void {
    if (this.#finishOnce()) this.#settle.reject(error);
  }

  stop(error: NexusError): void {
    // On a busy machine the time can be over before the end of the process is dealt with, which is the reason.
    if (error.code === "TIMEOUT" && this.#owner.isEnding) return;
    if (!this.#finishOnce()) return;
    const mayHaveReached = this.sending?.started ?? true;
    this.#owner.cancel(this, error.message);
    this.#settle.reject(this.#owner.describe(error.with({ mayHaveReached })));
  }

  /** True only for the first call. */
  #finishOnce(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    if (this.sending instanceof ResumableStream) this.sending.abandon();
    this.#owner.forget(this);
    this.scope.setInFlight(undefined);
    return true;
  }
}

/** `last` is the failure of resuming the stream. */
export function endedWithoutAnswer(method: string, last?: StreamEnd): NexusError {
  const cause = last?.kind === "failed" ? last.error : undefined;
  const message = `The server ended the stream of ${method} without an answer${cause ? `: ${cause.message}` : ""}`;
  return new NexusError("CONNECTION_LOST", message, {
    phase: "request",
    cause,
    hint: cause?.details.hint,
    mayHaveReached: true,
  });
}

function tooNested(method: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The answer to ${method} is nested deeper than ${MAX_NESTING} levels`, {
    hint: "Request less data if the server supports it. Otherwise report it to the server's author.",
    mayHaveReached: true,
  });
}

/** The server's error unchanged; an answer that is neither result nor error is a protocol violation. */
function answerError(response: Response, method: string): NexusError {
  if (isNestedDeeper(response)) return tooNested(method);
  const error: unknown = "error" in response ? response.error : undefined;
  if (isRecord(error) && typeof error["code"] === "number" && typeof error["message"] === "string") {
    const rpc = error as unknown as ErrorObject;
    return new NexusError("SERVER_ERROR", rpc.message, { rpc, hint: rpcHint(rpc.code), mayHaveReached: true });
  }
  return new NexusError("PROTOCOL_VIOLATION", `The answer to ${method} is neither a result nor an error`, {
    raw: response,
    mayHaveReached: true,
  });
}
