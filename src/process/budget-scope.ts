import { sizeText } from "../text/byte-size.ts";
import type { ScopeKind, ScopeLimits } from "./process-limits.ts";
import type { ProcessSlot } from "./process-budget.ts";

const WHOSE: Record<ScopeKind, string> = { all: "", tenant: " for this tenant", server: " for this server" };

/** Processes that are counted together: those of one server, of one tenant, or all. */
export class BudgetScope {
  readonly kind: ScopeKind;
  limits: ScopeLimits;
  /** Those that have their process, also while it ends. */
  readonly slots = new Set<ProcessSlot>();

  constructor(kind: ScopeKind, limits: ScopeLimits) {
    this.kind = kind;
    this.limits = limits;
  }

  get bytes(): number {
    return bytesOf([...this.slots]);
  }

  /** Whether one more process may start now. */
  get hasRoom(): boolean {
    return this.#admits([...this.slots], 0);
  }

  /** Whether one more may start once those that are leaving are gone, `more` left with them, and `ahead` came first. */
  willHaveRoom(more: ReadonlySet<ProcessSlot>, ahead: number): boolean {
    return this.#admits(
      [...this.slots].filter((slot) => !slot.isLeaving && !more.has(slot)),
      ahead,
    );
  }

  /** What a start waits for, in words. */
  describe(): string {
    const { processes, memoryBytes } = this.limits;
    if (this.slots.size >= processes)
      return `waiting for a free process; ${this.slots.size} of ${processes}${WHOSE[this.kind]} are in use`;
    const [used, limit] = [sizeText(this.bytes), sizeText(memoryBytes)];
    return `waiting for free memory; ${used} of ${limit}${WHOSE[this.kind]} are in use`;
  }

  #admits(slots: readonly ProcessSlot[], ahead: number): boolean {
    const { processes, memoryBytes } = this.limits;
    const count = slots.length + ahead;
    return count < processes && (count === 0 || bytesOf(slots) < memoryBytes);
  }
}

export function bytesOf(slots: readonly ProcessSlot[]): number {
  return slots.reduce((sum, { bytes }) => sum + bytes, 0);
}
