import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { FairQueue, type QueuePlace } from "../async/fair-queue.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import { BudgetScope } from "./budget-scope.ts";
import { MemoryWatch } from "./memory-watch.ts";
import { PROCESS_LIMITS, type ProcessLimits, type ScopeKind, type ScopeLimits } from "./process-limits.ts";

/** Shorter than the minute that most clients wait for an answer: they should read the reason. */
const DEFAULT_PROCESS_WAIT_MS = 45_000;

export interface ProcessBudgetOptions {
  logger?: Logger | undefined;
  platform?: NodeJS.Platform | undefined;
  /** How often memory is measured, where it is limited; default: 5 seconds. */
  measureMs?: number | undefined;
}

const BUDGET_OPTIONS: OptionNames<ProcessBudgetOptions> = {
  logger: true,
  platform: true,
  measureMs: true,
};

/** How much of a budget is in use. */
export interface ProcessUsage {
  processes: number;
  /** Starts that wait for a free process. */
  waiting: number;
  /** As last measured; 0 where memory is not limited. */
  memoryBytes: number;
}

/** After which a start that got no process may be tried again. */
const RETRY_MS = 1_000;

/**
 * Limits the child processes of one or more hosts. Where no process is free, the idle one that was used least recently is
 * stopped; if all are in use, starts wait in a queue that is fair between tenants and between their principals.
 */
export class ProcessBudget {
  #limits: Readonly<ProcessLimits>;
  readonly #all: BudgetScope;
  readonly #scopes = new Map<string, BudgetScope>();
  readonly #queue = new FairQueue<ProcessSlot>();
  readonly #memory: MemoryWatch;
  readonly #logger: Logger;

  constructor(limits: ProcessLimits = {}, options: ProcessBudgetOptions = {}) {
    checkOptions("the limits of ProcessBudget", limits, PROCESS_LIMITS);
    checkOptions("ProcessBudget", options, BUDGET_OPTIONS);
    const { logger = SILENT, platform = process.platform, measureMs = 5_000 } = options;
    this.#limits = limits;
    this.#logger = logger;
    this.#all = new BudgetScope("all", limitsOf("all", limits));
    const scopes = () => [this.#all, ...this.#scopes.values()];
    this.#memory = new MemoryWatch({ platform, measureMs, logger, scopes, onMeasured: () => this.#serve() });
  }

  get limits(): Readonly<ProcessLimits> {
    return this.#limits;
  }

  /** How long a start waits for a free process. */
  get waitMs(): number {
    return this.#limits.processWaitMs ?? DEFAULT_PROCESS_WAIT_MS;
  }

  /** Other limits from now on. Processes in use are not stopped for them. */
  setLimits(limits: ProcessLimits): void {
    this.#limits = limits;
    this.#all.limits = limitsOf("all", limits);
    for (const scope of this.#scopes.values()) if (scope.kind === "tenant") scope.limits = limitsOf("tenant", limits);
    for (const slot of this.#all.slots) {
      this.#limitServer(slot.request);
      this.#memory.watch(slot);
    }
    this.#serve();
  }

  /** What is in use: by one tenant, or by all. */
  usage(tenant?: string): ProcessUsage {
    const scope = tenant === undefined ? this.#all : this.#scopes.get(keyOf("tenant", tenant));
    const waiting = this.#queue.inTurn().filter(({ group }) => tenant === undefined || group === tenant).length;
    return { processes: scope?.slots.size ?? 0, waiting, memoryBytes: scope?.bytes ?? 0 };
  }

  /** A slot for one process. It may have to wait: see `ready`. */
  open(request: ProcessRequest): ProcessSlot {
    const slot = new ProcessSlot(request, this.#scopesFor(request), this);
    if (slot.hasRoom && !request.signal.aborted) this.#grant(slot);
    else this.#wait(slot);
    return slot;
  }

  /** @internal */
  rested(slot: ProcessSlot): void {
    if (slot.endsWhenIdle) slot.stop();
    else if (this.#queue.size > 0) this.#makeRoom();
  }

  /** @internal */
  started(slot: ProcessSlot): void {
    this.#memory.watch(slot);
  }

  /** @internal */
  gone(slot: ProcessSlot): void {
    this.#forgetScopes(slot);
    this.#serve();
  }

  /** @internal */
  gaveUp(slot: ProcessSlot): void {
    this.#queue.delete(slot);
    this.#forgetScopes(slot);
  }

  #wait(slot: ProcessSlot): void {
    this.#queue.add(slot);
    const { server } = slot.request;
    this.#logger.info(`"${server}": ${slot.waitingFor ?? "waiting"}`);
    slot.wait(this.waitMs, () => busy(server, slot.waitingFor));
    this.#makeRoom();
  }

  #grant(slot: ProcessSlot): void {
    slot.bytes = this.#memory.expectedBytes(slot);
    slot.grant();
  }

  /** Starts whatever has room, in turn. */
  #serve(): void {
    for (const slot of this.#queue.inTurn()) {
      if (!slot.hasRoom) continue;
      this.#queue.take(slot);
      this.#grant(slot);
    }
    this.#makeRoom();
  }

  /** Stops idle processes for those that wait, no more than they need. */
  #makeRoom(): void {
    if (this.#queue.size === 0) return;
    const ahead = new Map<BudgetScope, number>();
    for (const slot of this.#queue.inTurn()) {
      const idle = [...this.#all.slots].filter(({ idleSince }) => idleSince !== undefined);
      const spare = spareFor(slot, idle, ahead);
      if (!spare) continue;
      for (const one of spare) this.#stopFor(slot, one);
      for (const scope of slot.scopes) ahead.set(scope, (ahead.get(scope) ?? 0) + 1);
    }
  }

  #stopFor(waiting: ProcessSlot, idle: ProcessSlot): void {
    this.#logger.debug(`an idle process of "${idle.request.server}" makes room for "${waiting.request.server}"`);
    idle.stop();
  }

  #scopesFor(request: ProcessRequest): BudgetScope[] {
    return [this.#limitServer(request), this.#scopeOf("tenant", request.tenant), this.#all];
  }

  /** Its own limits count before those of every server. */
  #limitServer({ tenant, server, limits }: ProcessRequest): BudgetScope {
    const scope = this.#scopeOf("server", server, tenant);
    const { processes, memoryBytes } = limitsOf("server", this.#limits);
    scope.limits = { processes: limits?.processes ?? processes, memoryBytes: limits?.memoryBytes ?? memoryBytes };
    return scope;
  }

  #scopeOf(kind: ScopeKind, ...names: string[]): BudgetScope {
    const key = keyOf(kind, ...names);
    const known = this.#scopes.get(key) ?? new BudgetScope(kind, limitsOf(kind, this.#limits));
    this.#scopes.set(key, known);
    return known;
  }

  #forgetScopes({ request: { tenant, server } }: ProcessSlot): void {
    const isWaiting = this.#queue.inTurn().some(({ group }) => group === tenant);
    for (const key of [keyOf("server", server, tenant), keyOf("tenant", tenant)]) {
      if (!isWaiting && this.#scopes.get(key)?.slots.size === 0) this.#scopes.delete(key);
    }
  }
}

/** The idle processes whose end lets this one start, the least recently used first; undefined where that is not enough. */
function spareFor(
  slot: ProcessSlot,
  idle: readonly ProcessSlot[],
  ahead: ReadonlyMap<BudgetScope, number>,
): Set<ProcessSlot> | undefined {
  const chosen = new Set<ProcessSlot>();
  const oldestFirst = idle.toSorted((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
  for (const scope of slot.scopes) {
    const candidates = oldestFirst.filter((one) => scope.slots.has(one) && !chosen.has(one));
    while (!scope.willHaveRoom(chosen, ahead.get(scope) ?? 0)) {
      const next = candidates.shift();
      if (!next) return undefined;
      chosen.add(next);
    }
  }
  return chosen;
}

function keyOf(kind: ScopeKind, ...names: string[]): string {
  return JSON.stringify([kind, ...names]);
}

function busy(server: string, waitingFor = "waiting for a free process"): NexusError {
  return new NexusError("BUSY", `Server "${server}" was not started: ${waitingFor}`, {
    phase: "start",
    server,
    hint: `Retry later, raise the limit of processes, or set "isolation": "shared" for servers that keep no state of their callers.`,
    retryAfterMs: RETRY_MS,
    mayHaveReached: false,
  });
}

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
interface SlotObserver {
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

function limitsOf(kind: ScopeKind, limits: ProcessLimits): ScopeLimits {
  const { processes, processesPerTenant, processesPerServer } = limits;
  const { memoryBytes, memoryBytesPerTenant, memoryBytesPerServer } = limits;
  const [count, bytes] = {
    all: [processes, memoryBytes],
    tenant: [processesPerTenant, memoryBytesPerTenant],
    server: [processesPerServer, memoryBytesPerServer],
  }[kind];
  return { processes: count ?? Infinity, memoryBytes: bytes ?? Infinity };
}
