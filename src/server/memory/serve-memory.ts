import { Cancellation } from "../../async/cancellation.ts";
import { Deadlines } from "../../async/deadlines.ts";
import { callListener } from "../../async/call-listener.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import {
  INVALID_REQUEST,
  isNotification,
  isResponse,
  type Message,
  type Request,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import type { Core, Servable } from "../core/core.ts";
import { LegacySession } from "../legacy/legacy-session.ts";
import type { RequestChannel } from "../legacy/request-channel.ts";
import { answerModern } from "../modern/modern-request.ts";
import { isModern } from "../modern/modern-sender.ts";
import { servedRevisions } from "../core/served-revisions.ts";
import { ANYBODY, type Principal } from "../core/principal.ts";

/** The server's end of a connection within this process. */
export interface MemoryEnd {
  onMessage: (message: Message) => void;
  send(message: Message): void;
  readonly closed: Promise<void>;
}

export interface ServeMemoryOptions {
  /** Who calls; default: one anonymous caller. */
  principal?: Principal | undefined;
  logger?: Logger | undefined;
}

/** Serves one client in the same process, in the era of each of its messages, until it leaves. */
export function serveMemory({ core }: Servable, end: MemoryEnd, options: ServeMemoryOptions = {}): void {
  const endpoint = new MemoryEndpoint(core, end, options);
  end.onMessage = (message) => endpoint.receive(message);
  void end.closed.then(() => endpoint.close());
}

class MemoryEndpoint {
  readonly #core: Core;
  readonly #end: MemoryEnd;
  readonly #principal: Principal;
  readonly #logger: Logger;
  readonly #session: LegacySession;
  readonly #running = new Map<RequestId, Cancellation>();

  constructor(core: Core, end: MemoryEnd, { principal = ANYBODY, logger = SILENT }: ServeMemoryOptions) {
    this.#core = core;
    this.#end = end;
    this.#principal = principal;
    this.#logger = logger;
    const outside = (message: Message) => end.send(message);
    this.#session = new LegacySession({ core, principal, logger, outside, deadlines: new Deadlines() });
  }

  receive(message: Message): void {
    if (isResponse(message)) return this.#session.settle(message);
    if (isNotification(message)) {
      if (message.method === "notifications/cancelled") this.#cancel(message.params?.["requestId"] as RequestId);
      return this.#session.notified(message);
    }
    if (!isModern(message, servedRevisions(this.#core))) this.#session.request(message, this.#channel);
    else callListener(() => this.#answer(message), this.#logger);
  }

  close(): void {
    for (const id of this.#running.keys()) this.#cancel(id);
    callListener(() => this.#session.close(), this.#logger);
  }

  /** Everything goes to the same client at once, whatever it belongs to. */
  readonly #channel: RequestChannel = {
    canStream: true,
    send: (message) => {
      this.#end.send(message);
      return true;
    },
    finish: (answer) => {
      if (answer) this.#end.send(answer);
    },
  };

  async #answer(request: Request): Promise<void> {
    const { id } = request;
    if (this.#running.has(id)) {
      const error = { code: INVALID_REQUEST, message: "A request with this id is already running" };
      return this.#end.send({ jsonrpc: "2.0", id, error });
    }
    const signal = new Cancellation();
    this.#running.set(id, signal);
    const send = (message: Message) => {
      if (!signal.aborted) this.#end.send(message);
    };
    const answer = await answerModern({ core: this.#core, principal: this.#principal, request, signal, send });
    if (this.#running.get(id) === signal) this.#running.delete(id);
    // A cancelled request gets no answer.
    send(answer);
  }

  #cancel(id: RequestId): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.abort(new NexusError("CANCELLED", "The client cancelled the request"));
  }
}
