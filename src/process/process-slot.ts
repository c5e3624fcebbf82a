import type { QueuePlace } from "../async/fair-queue.ts";
import type { NexusError } from "../errors/nexus-error.ts";
import type { BudgetScope } from "./budget-scope.ts";

/** For whom a process is wanted, and how it is ended. */
export interface ProcessRequest {
  tenant: string;
  server: string;
  /** Principals of a tenant are served in turn. */
  principal: string;
  /** Limits of this server alone, in place of those of every server. */
  limits?: { processes?: number | undefined; memoryBytes?: number | undefined } | undefined;
  /** Fires when the process is no longer wanted. */
  signal: AbortSignal;
  /** Ends the process, which nobody uses. */
  stop: () => void;
}

/** A child process as the budget sees it. */
export interface RunningChild {
  pid: number;
  /** Resolves when the process is gone. */
  exited: Promise<unknown>;
  /** Kills the process and everything it started; its calls fail for this reason. */
  kill: (reason: string) => void;
}

/** What a slot tells its budget. */
export interface SlotObserver {
  rested(slot: ProcessSlot): void;
  started(slot: ProcessSlot): void;
  gone(slot: ProcessSlot): void;
  gaveUp(slot: ProcessSlot): void;
}

/** The right to run one process: waited for, used, and given back when the process is gone. */
export class ProcessSlot implements QueuePlace {
  readonly group: string;
  readonly member: string;
  readonly request: ProcessRequest;
  /** The server's, the tenant's, and that of all. */
  readonly scopes: readonly BudgetScope[];
  /** Resolves when the process may start; rejects with the reason of the signal, or because it waited too long. */
  readonly ready: Promise<void>;
  /** Since when nobody uses the process, by `performance.now()`. */
  idleSince: number | undefined;
  /** It was told to end. */
  isLeaving = false;
  /** It is told to end as soon as nobody uses it. */
  endsWhenIdle = false;
  /** The memory of its process, as last measured. */
  bytes = 0;
  readonly children = new Set<RunningChild>();
  readonly #observer: SlotObserver;
  #state: "waiting" | "granted" | "over" = "waiting";
  #isReleased = false;
  #grant: () => void = () => {};
  #refuse: (error: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(request: ProcessRequest, scopes: readonly BudgetScope[], observer: SlotObserver) {
    this.group = request.tenant;
    this.member = request.principal;
    this.request = request;
    this.scopes = scopes;
    this.#observer = observer;
    this.ready = new Promise((resolve, reject) => {
      this.#grant = resolve;
      this.#refuse = reject;
    });
    // Whoever opens it waits for it; one that is given up at once may have nobody.
    this.ready.catch(() => {});
    request.signal.addEventListener("abort", this.#leave, { once: true });
  }

  get hasRoom(): boolean {
    return this.scopes.every((scope) => scope.hasRoom);
  }

  /** What it waits for, in words; undefined where it does not wait. */
  get waitingFor(): string | undefined {
    if (this.#state !== "waiting") return undefined;
    return (this.scopes.find((scope) => !scope.hasRoom) ?? this.scopes.at(-1))?.describe();
  }

  /** Waits for its turn, so long at most. */
  wait(ms: number, tooLong: () => NexusError): void {
    this.#timer = setTimeout(() => this.#giveUp(tooLong()), ms);
    if (this.request.signal.aborted) this.#leave();
  }

  grant(): void {
    if (this.#state !== "waiting") return;
    this.#state = "granted";
    clearTimeout(this.#timer);
    for (const scope of this.scopes) scope.slots.add(this);
    this.#grant();
  }

  /** A process was started in it. */
  spawned(child: RunningChild): void {
    this.children.add(child);
    this.#observer.started(this);
    void child.exited.then(() => {
      this.children.delete(child);
      this.#endIfGone();
    });
  }

  /** Nobody uses the process any more: it ends when another one is wanted. */
  rest(): void {
    if (this.#state !== "granted" || this.isLeaving) return;
    this.idleSince = performance.now();
    this.#observer.rested(this);
  }

  stir(): void {
    this.idleSince = undefined;
  }

  stop(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.idleSince = undefined;
    this.request.stop();
  }

  /** No more processes are started in it; it is free when the last one is gone. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = this.isLeaving = true;
    this.idleSince = undefined;
    this.#endIfGone();
  }

  readonly #leave = () => this.#giveUp(this.request.signal.reason);

  #giveUp(reason: unknown): void {
    if (this.#state !== "waiting") return;
    this.#state = "over";
    clearTimeout(this.#timer);
    this.request.signal.removeEventListener("abort", this.#leave);
    this.#refuse(reason);
    this.#observer.gaveUp(this);
  }

  #endIfGone(): void {
    if (!this.#isReleased || this.children.size > 0 || this.#state !== "granted") return;
    this.#state = "over";
    this.request.signal.removeEventListener("abort", this.#leave);
    for (const scope of this.scopes) scope.slots.delete(this);
    this.#observer.gone(this);
  }
}
