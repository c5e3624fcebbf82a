import { messageOf } from "../errors/nexus-error.ts";
import { sizeText } from "../text/byte-size.ts";
import type { Logger } from "../text/logger.ts";
import { type BudgetScope, bytesOf } from "./budget-scope.ts";
import { groupMemory } from "./group-memory.ts";
import type { ScopeKind } from "./process-limits.ts";
import type { ProcessSlot } from "./process-budget.ts";

export interface MemoryWatchOptions {
  platform: NodeJS.Platform;
  measureMs: number;
  logger: Logger;
  scopes: () => readonly BudgetScope[];
  onMeasured: () => void;
}

/** Above this multiple of a limit, processes are killed although their calls are running. */
const HARD_LIMIT = 1.5;

const WHOSE: Record<ScopeKind, string> = {
  all: "all servers together use",
  tenant: "the servers of its tenant use",
  server: "it uses",
};

/**
 * Measures the memory of processes while it is limited. Where there is too much, idle processes stop, the least recently
 * used first, then the largest as soon as their calls are finished; far above the limit, the largest are killed.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #watched = new Set<ProcessSlot>();
  /** What a process of a server takes, as last seen: a new one is expected to take as much. */
  readonly #typical = new Map<string, number>();
  #isPlanned = false;
  #cannotMeasure = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  expectedBytes({ request: { tenant, server } }: ProcessSlot): number {
    return this.#typical.get(JSON.stringify([tenant, server])) ?? 0;
  }

  /** Measures it from now on, if its memory is limited. */
  watch(slot: ProcessSlot): void {
    if (this.#cannotMeasure || !slot.scopes.some(({ limits }) => limits.memoryBytes < Infinity)) return;
    this.#watched.add(slot);
    this.#measureLater();
  }

  #measureLater(): void {
    if (this.#isPlanned || this.#cannotMeasure) return;
    this.#isPlanned = true;
    setTimeout(() => void this.#measureNow(), this.#options.measureMs).unref();
  }

  async #measureNow(): Promise<void> {
    try {
      await this.#measure();
    } catch (error) {
      this.#options.logger.debug(`cannot measure memory: ${messageOf(error)}`);
    }
    this.#isPlanned = false;
    for (const slot of this.#watched) if (slot.children.size === 0) this.#watched.delete(slot);
    if (this.#watched.size > 0) this.#measureLater();
  }

  async #measure(): Promise<void> {
    const { platform, logger, scopes, onMeasured } = this.#options;
    const pids = [...this.#watched].flatMap((slot) => [...slot.children].map(({ pid }) => pid));
    const measured = await groupMemory(pids, platform);
    if (!measured) {
      this.#cannotMeasure = true;
      logger.warn("The memory of processes cannot be measured on this system: its limits have no effect");
      return;
    }
    for (const slot of this.#watched) this.#note(slot, measured);
    for (const scope of scopes()) this.#relieve(scope);
    onMeasured();
  }

  #note(slot: ProcessSlot, measured: ReadonlyMap<number, number>): void {
    slot.bytes = [...slot.children].reduce((sum, { pid }) => sum + (measured.get(pid) ?? 0), 0);
    const { tenant, server } = slot.request;
    if (slot.bytes > 0) this.#typical.set(JSON.stringify([tenant, server]), slot.bytes);
  }

  #relieve(scope: BudgetScope): void {
    const { memoryBytes: limit } = scope.limits;
    const staying = [...scope.slots].filter(({ isLeaving }) => !isLeaving);
    let rest = bytesOf(staying);
    if (rest <= limit) return;
    const reason = `${WHOSE[scope.kind]} ${sizeText(rest)} of memory, and the limit is ${sizeText(limit)}`;
    const isTooMuch = rest > limit * HARD_LIMIT;
    for (const slot of inOrderOfEnding(staying)) {
      if (rest <= limit) return;
      rest -= slot.bytes;
      this.#end(slot, { reason, isTooMuch });
    }
  }

  #end(slot: ProcessSlot, { reason, isTooMuch }: { reason: string; isTooMuch: boolean }): void {
    const { server } = slot.request;
    const { logger } = this.#options;
    const words = `"${server}": ${reason}. A process of ${sizeText(slot.bytes)}`;
    if (slot.idleSince !== undefined) {
      logger.warn(`${words} was idle and is stopped`);
      slot.stop();
    } else if (isTooMuch) {
      logger.warn(`${words} is killed`);
      for (const child of slot.children) child.kill(reason);
    } else if (!slot.endsWhenIdle) {
      logger.warn(`${words} is stopped when its calls are finished`);
      slot.endsWhenIdle = true;
    }
  }
}

/** Idle ones first, the least recently used of them at the beginning; then those in use, the largest first. */
function inOrderOfEnding(slots: readonly ProcessSlot[]): ProcessSlot[] {
  const idle = slots.filter(({ idleSince }) => idleSince !== undefined);
  const used = slots.filter(({ idleSince }) => idleSince === undefined);
  return [
    ...idle.toSorted((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0)),
    ...used.toSorted((a, b) => b.bytes - a.bytes),
  ];
}
