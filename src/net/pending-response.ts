import type { CancelSignal } from "../async/cancellation.ts";
import type { Deadlines, Timed } from "../async/deadlines.ts";
import { NexusError, type ErrorCode } from "../errors/nexus-error.ts";
import type { GuardedResponse } from "./guarded-request.ts";
import { concatBytes } from "../text/bytes.ts";
import { networkFailure } from "./network-failure.ts";
import type { DispatchController, Dispatcher, DispatchHandler, DispatchOptions } from "./http-network.ts";

interface PendingResponseOptions {
  dispatcher: Dispatcher;
  deadlines: Deadlines;
  options: DispatchOptions;
  /** The address without its query. */
  shown: string;
  timeoutMs: number;
  maxBytes: number;
  signal: CancelSignal | undefined;
  /** The answer may be a redirect; otherwise it is refused. */
  passesRedirects?: boolean | undefined;
}

/** One request in progress, and the part of its answer received so far. */
export class PendingResponse implements DispatchHandler, Timed {
  /** Its place among the deadlines. */
  slot = -1;
  readonly #setup: PendingResponseOptions;
  readonly #promise: Promise<GuardedResponse>;
  #resolve: (response: GuardedResponse) => void = () => {};
  #reject: (error: NexusError) => void = () => {};
  /** Made only for a signal. */
  #cancel: (() => void) | undefined;
  #endsAt = Infinity;
  #controller: DispatchController | undefined;
  #isOver = false;
  #head: Omit<GuardedResponse, "body"> | undefined;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(setup: PendingResponseOptions) {
    this.#setup = setup;
    this.#promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  answer(): Promise<GuardedResponse> {
    const { dispatcher, deadlines, options, signal, timeoutMs } = this.#setup;
    if (signal?.aborted) this.#cancelled();
    else {
      if (signal) {
        this.#cancel = () => this.#cancelled();
        signal.addEventListener("abort", this.#cancel, { once: true });
      }
      this.#endsAt = performance.now() + timeoutMs;
      deadlines.add(this);
      try {
        dispatcher.dispatch(options, this);
      } catch (error) {
        this.#fail(this.#failure(error));
      }
    }
    return this.#promise;
  }

  get remainingMs(): number {
    return this.#endsAt - performance.now();
  }

  expire(): void {
    const { shown, timeoutMs } = this.#setup;
    this.#stop("TIMEOUT", `${shown} did not answer within ${timeoutMs} ms`);
  }

  stop(error: NexusError): void {
    this.#fail(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    // Cancelled while it waited for a connection: it is not sent.
    if (this.#isOver) controller.abort(new Error("over"));
  }

  onResponseStart(_controller: DispatchController, status: number, headers: GuardedResponse["headers"]): void {
    if (status < 200) return;
    const { shown, maxBytes, passesRedirects = false } = this.#setup;
    if (!passesRedirects && status >= 300 && status < 400 && headers["location"] !== undefined) {
      return this.#stop("REDIRECT_REFUSED", `${shown} redirects ${targetOf(headers["location"], shown)}`, {
        status,
        hint: "Redirects are not followed. If the API has moved, correct its address and approve the file again.",
      });
    }
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && isCompressed(encoding)) {
      return this.#stop("PROTOCOL_VIOLATION", `${shown} sent a compressed answer that was not requested`, { status });
    }
    if (Number(headers["content-length"]) > maxBytes) return this.#tooLarge(status);
    this.#head = { status, headers };
  }

  onResponseData(_controller: DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#setup.maxBytes) this.#tooLarge(this.#head?.status);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#isOver || !this.#head) return;
    const [only] = this.#chunks;
    this.#finish();
    const { status, headers } = this.#head;
    const body = this.#chunks.length === 1 && only ? only : concatBytes(this.#chunks);
    this.#resolve({ status, headers, body });
  }

  onResponseError(_controller: DispatchController | undefined, error: Error): void {
    this.#fail(this.#failure(error));
  }

  #cancelled(): void {
    this.#stop("CANCELLED", "The request was cancelled");
  }

  #tooLarge(status: number | undefined): void {
    const { shown, maxBytes } = this.#setup;
    this.#stop("MESSAGE_TOO_LARGE", `${shown} sent an answer of more than ${maxBytes} bytes`, { status });
  }

  #stop(code: ErrorCode, message: string, details: NexusError["details"] = {}): void {
    const controller = this.#controller;
    this.#fail(
      new NexusError(code, message, { phase: "request", mayHaveReached: controller !== undefined, ...details }),
    );
    controller?.abort(new Error("over"));
  }

  #failure(error: unknown): NexusError {
    const { origin } = this.#setup.options;
    return networkFailure(error, {
      origin,
      proxy: undefined,
      started: this.#controller !== undefined,
      hasAnswered: this.#head !== undefined,
    });
  }

  #fail(error: NexusError): void {
    if (this.#isOver) return;
    this.#finish();
    this.#reject(error);
  }

  #finish(): void {
    this.#isOver = true;
    this.#setup.deadlines.remove(this);
    if (this.#cancel) this.#setup.signal?.removeEventListener("abort", this.#cancel);
  }
}

function isCompressed(encoding: string | string[]): boolean {
  const text = [encoding].flat().join(", ").trim().toLowerCase();
  return text !== "identity" && text !== "";
}

/** The target without parts that may be secret. */
function targetOf(location: string | string[], from: string): string {
  const text = [location].flat()[0] ?? "";
  const url = URL.canParse(text, from) ? new URL(text, from) : undefined;
  if (!url || url.origin === "null") return "to an address that is not http or https";
  return url.origin === new URL(from).origin ? "to another address of the same server" : `to ${url.origin}`;
}
