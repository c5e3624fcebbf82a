import { NexusError } from "../errors/nexus-error.ts";
import { isRecord, METHOD_NOT_FOUND, type Notification, type Params } from "../protocol/json-rpc.ts";
import { META, TASKS_EXTENSION } from "../protocol/meta.ts";
import type { CallScope } from "./call-scope.ts";
import type { Caller } from "./caller.ts";
import { changeIn, type ChangeListener, type ChangingList, type Feed, type Interests } from "./feed.ts";

const REOPEN_MS = { first: 500, longest: 30_000 };
const LISTS: readonly ChangingList[] = ["tools", "prompts", "resources"];

/** Modern servers tell changes on the stream of a `subscriptions/listen`, and only those it asked for. */
export class ModernFeed implements Feed {
  readonly #caller: Caller;
  readonly #tell: ChangeListener;
  #interests: Interests = {};
  #stream: ListenStream | undefined;
  /** The stream that is about to take over: what both tell is heard twice rather than not at all. */
  #next: ListenStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(caller: Caller, tell: ChangeListener) {
    this.#caller = caller;
    this.#tell = tell;
  }

  async set(interests: Interests): Promise<Interests> {
    clearTimeout(this.#timer);
    this.#interests = interests;
    const params = listenParams(interests);
    const previous = this.#stream;
    if (!params) {
      this.#stream = undefined;
      previous?.close();
      return {};
    }
    const next = new ListenStream(this.#caller, params, (error) => this.#ended(next, error));
    this.#next = next;
    try {
      const accepted = await next.acknowledged;
      this.#stream = next;
      this.#failures = 0;
      previous?.close();
      return accepted;
    } finally {
      this.#next = undefined;
    }
  }

  notified(notification: Notification): void {
    const isWithdrawal = notification.method === "notifications/cancelled";
    const id = isWithdrawal ? notification.params?.["requestId"] : subscriptionOf(notification);
    const stream = [this.#stream, this.#next].find((candidate) => candidate?.id === id);
    if (!stream) return;
    // On a pipe a server may end a subscription so, in place of the result.
    if (isWithdrawal) return stream.withdraw();
    if (notification.method === "notifications/subscriptions/acknowledged")
      return stream.acknowledge(notification.params);
    const change = changeIn(notification);
    if (change) this.#tell(change);
  }

  /** Modern servers have no session to forget. */
  async renewed(): Promise<void> {}

  abandon(): void {
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#stream = undefined;
  }

  async close(): Promise<void> {
    this.abandon();
  }

  /** The stream in use ended, by the server's wish or by accident. */
  #ended(stream: ListenStream, error: NexusError): void {
    if (stream !== this.#stream) return;
    this.#stream = undefined;
    this.#tell({ kind: "interrupted", error });
    this.#reopenLater();
  }

  #reopenLater(): void {
    const pause = Math.min(REOPEN_MS.first * 2 ** this.#failures++, REOPEN_MS.longest);
    this.#timer = setTimeout(() => void this.#reopen(), pause * (0.5 + Math.random() / 2)).unref();
  }

  async #reopen(): Promise<void> {
    try {
      await this.set(this.#interests);
      this.#tell({ kind: "restored" });
    } catch (thrown) {
      const error =
        thrown instanceof NexusError ? thrown : new NexusError("INTERNAL", String(thrown), { cause: thrown });
      const isFinal = this.#caller.conversation.peer.gone !== undefined || error.details.rpc?.code === METHOD_NOT_FOUND;
      if (isFinal) this.#tell({ kind: "ended", error });
      else this.#reopenLater();
    }
  }
}

/** One `subscriptions/listen`, from its acknowledgement to its end. */
class ListenStream {
  readonly id: number;
  readonly acknowledged: Promise<Interests>;
  #acknowledge: (accepted: Interests) => void = () => {};
  #scope: CallScope | undefined;
  #isOpen = true;

  constructor(caller: Caller, params: Params, onEnd: (error: NexusError) => void) {
    const { conversation } = caller;
    this.id = conversation.peer.reserveId();
    const acknowledged = new Promise<Interests>((resolve) => (this.#acknowledge = resolve));
    const ended = this.#listen(caller, params).then(endedByServer, (error: unknown) => error as NexusError);
    void ended.then((error) => {
      if (this.#isOpen) onEnd(error);
    });
    this.acknowledged = Promise.race([acknowledged, ended.then((error) => Promise.reject(error))]);
    this.acknowledged.catch(() => {});
  }

  acknowledge(params: Params | undefined): void {
    this.#scope?.pause();
    this.#acknowledge(interestsIn(isRecord(params?.["notifications"]) ? params["notifications"] : (params ?? {})));
  }

  withdraw(): void {
    this.#scope?.stop(endedByServer());
  }

  close(): void {
    this.#isOpen = false;
    this.#scope?.stop(new NexusError("CANCELLED", "The subscription was closed"));
  }

  /** The call's clock runs until the acknowledgement; from then on there is nothing to wait for. */
  #listen(caller: Caller, params: Params): Promise<unknown> {
    const extensions =
      params["notifications"] && "taskIds" in (params["notifications"] as Params)
        ? { [TASKS_EXTENSION]: {} }
        : undefined;
    return caller.inScope(
      { method: "subscriptions/listen", params, options: { totalTimeoutMs: Infinity }, extensions },
      (scope) => {
        this.#scope = scope;
        return caller.conversation.send("subscriptions/listen", params, scope, this.id);
      },
    );
  }
}

function endedByServer(): NexusError {
  return new NexusError("CONNECTION_LOST", "The server ended the subscription");
}

/** Undefined where there is nothing to listen for. */
function listenParams({ lists = [], resources = [], tasks = [] }: Interests): Params | undefined {
  const notifications: Params = {};
  for (const list of lists) notifications[`${list}ListChanged`] = true;
  if (resources.length > 0) notifications["resourceSubscriptions"] = resources;
  if (tasks.length > 0) notifications["taskIds"] = tasks;
  return Object.keys(notifications).length > 0 ? { notifications } : undefined;
}

function interestsIn(accepted: Params): Interests {
  return {
    lists: LISTS.filter((list) => accepted[`${list}ListChanged`] === true),
    resources: strings(accepted["resourceSubscriptions"]),
    tasks: strings(accepted["taskIds"]),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function subscriptionOf({ params }: Notification): unknown {
  const meta = params?.["_meta"];
  return isRecord(meta) ? meta[META.subscriptionId] : undefined;
}
