import type { Notification, Request } from "../../protocol/json-rpc.ts";
import type { Progress } from "../../protocol/mcp.ts";
import { isNestedDeeper, MAX_NESTING } from "../../json/nesting.ts";
import type { CallScope } from "./call-scope.ts";
import { callListener } from "../../async/call-listener.ts";
import type { InputDesk } from "./input.ts";
import { forgetLists, type KnownLists } from "./lists.ts";
import type { Logger } from "../../text/logger.ts";
import type { Peer, PeerListener } from "./peer.ts";
import { Questions } from "./questions.ts";

/** Receives a notification as the server sent it. */
export type NotificationListener = (notification: Notification) => void;

/**
 * Receives what the server sends on its own: progress goes to its call, questions to the desk, the rest to listeners.
 */
export class Inbox implements PeerListener {
  /** Where answers to questions are sent; set when there is a connection. */
  peer: Peer | undefined;
  isModern = false;
  readonly known: KnownLists = {};
  /** Counts changes of lists, so that a list that was read during a change is not kept. */
  changes = 0;
  readonly listeners = new Set<NotificationListener>();
  /** For caches and subscriptions of this client. */
  onChange: NotificationListener = () => {};
  #questions: Questions | undefined;
  #isClosed = false;
  readonly #desk: InputDesk;
  readonly #logger: Logger;

  constructor(desk: InputDesk, logger: Logger) {
    this.#desk = desk;
    this.#logger = logger;
  }

  request(request: Request, scope: CallScope | undefined): void {
    // Modern clients MUST NOT send responses, so the request cannot be refused either.
    if (this.isModern)
      this.#logger.warn(`"${this.#desk.server}" sent ${request.method}, which the protocol forbids to a modern server`);
    else if (this.peer && !this.#isClosed) {
      this.#questions ??= new Questions(this.#desk, this.#logger);
      void this.#questions.answer(this.peer, request, scope);
    }
  }

  notification(notification: Notification, scope: CallScope | undefined): void {
    const { method, params } = notification;
    if (isNestedDeeper(params)) {
      const what = `${method} of "${this.#desk.server}"`;
      return this.#logger.warn(`${what} was dropped because it is nested deeper than ${MAX_NESTING} levels`);
    }
    if (method === "notifications/progress") {
      if (scope) callListener(() => reportProgress(params, scope), this.#logger);
    } else {
      if (method === "notifications/cancelled") this.#questions?.withdraw(params?.["requestId"]);
      if (forgetLists(this.known, method)) this.changes++;
      this.onChange(notification);
      const call = scope ?? (method === "notifications/message" ? this.#onlyListener() : undefined);
      callListener(() => call?.options.onNotification?.(notification), this.#logger);
    }
    for (const listener of this.listeners) callListener(() => listener(notification), this.#logger);
  }

  /** Over a pipe, a log message does not name its call. If only one call wants log messages, it gets them. */
  #onlyListener(): CallScope | undefined {
    const listening = this.peer?.scopes().filter(({ options }) => options.onNotification) ?? [];
    return listening.length === 1 ? listening[0] : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#questions?.close();
  }
}

function reportProgress(params: Notification["params"], scope: CallScope): unknown {
  if (typeof params?.["progress"] !== "number") return undefined;
  scope.touch();
  scope.lastProgress = params["message"];
  return scope.options.onProgress?.(params as unknown as Progress);
}
