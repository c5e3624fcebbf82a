import { within } from "../async/within.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { ExceededLimit } from "../gateway/operation/allowance.ts";
import type { CountedRate, Rates } from "../store/keep/rates.ts";
import type { Logger } from "../text/logger.ts";

export interface StoredCounterOptions {
  /** Names it in the store. */
  key: string;
  rates: Pick<Rates, "take" | "giveBack">;
  /** How many requests are counted ahead at least, so that not each one waits for the database. */
  block: (window: WindowUse) => number;
  /** What was counted ahead and is not used for so long goes back to the database; undefined: when the counter is closed. */
  idleMs?: number | undefined;
  /** Whether it is known that the database does not answer. */
  isAway: () => boolean;
  logger: Logger;
  now?: () => number;
  /** How long requests wait for the database. */
  patienceMs?: number;
}

/** What is known of a window before the database is asked. */
export interface WindowUse {
  max: number;
  /** How many requests of it were not counted yet, as far as this process knows. */
  free: number;
  /** Whether other processes have used some of it. */
  isShared: boolean;
  now: number;
}

interface Waiting {
  requests: number;
  resolve: (taken: number) => void;
}

/** Longer than a busy database takes, and shorter than callers wait. */
const PATIENCE_MS = 3_000;
/** A used limit is asked for again after this time: another process may have given something back. */
const ASK_AGAIN_MS = 1_000;

/**
 * A counter in the database, exact for all processes that share it. Requests that wait at the same moment are counted together.
 * While the database is away this process counts alone, and adds what it counted when the database is back.
 */
export class StoredCounter implements RequestCounter {
  limit: ExceededLimit;
  readonly #options: StoredCounterOptions;
  readonly #now: () => number;
  #waiting: Waiting[] = [];
  #asking: Promise<void> | undefined;
  /** Counted in the database, and not used yet. */
  #reserved = 0;
  /** As the database names it; undefined where this process counts alone. */
  #window: number | undefined;
  #endsAt = -Infinity;
  /** Until then the database has nothing more. */
  #usedUntil = -Infinity;
  /** How many requests the database had counted in this window, as far as this process knows. */
  #known = 0;
  /** How many of them this process had counted. */
  #own = 0;
  #usedAt = -Infinity;
  #idle: NodeJS.Timeout | undefined;
  /** An answer of the database that nobody waits for any more. */
  #isLate = false;
  /** Counted in this process alone, and not yet in the database. */
  #owed = 0;
  #isAlone = false;

  constructor(limit: ExceededLimit, options: StoredCounterOptions) {
    this.limit = limit;
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  take(requests: number): number | Promise<number> {
    const now = (this.#usedAt = this.#now());
    if (!this.#asking && this.#isOpen(now)) {
      if (this.#reserved >= requests || now < this.#usedUntil) return this.#use(requests);
    }
    if (!this.#asking && this.#isAway) return this.#takeAlone(requests);
    return new Promise((resolve) => {
      this.#waiting.push({ requests, resolve });
      this.#asking ??= this.#ask();
    });
  }

  get window(): number {
    return this.#endsAt;
  }

  giveBack(requests: number, window: number): void {
    if (window !== this.#endsAt) return;
    this.#reserved += requests;
    this.#returnWhenIdle();
  }

  get retryAfterMs(): number {
    return Math.max(1, Math.min(this.limit.windowMs, Math.ceil(this.#endsAt - this.#now())));
  }

  setMax(max: number): void {
    // It was counted ahead for the larger limit.
    if (max < this.limit.max && !this.#asking) void this.#returnUnused();
    this.limit = { ...this.limit, max };
    this.#usedUntil = -Infinity;
  }

  /** What was counted ahead and is not used goes back to the database. */
  async close(): Promise<void> {
    await this.#asking;
    clearTimeout(this.#idle);
    await this.#returnUnused();
  }

  async #returnUnused(): Promise<void> {
    const { key, rates } = this.#options;
    const [unused, window] = [this.#reserved, this.#window];
    this.#reserved = 0;
    if (unused === 0 || window === undefined || !this.#isOpen(this.#now())) return;
    this.#own -= unused;
    this.#known -= unused;
    // Without it, only unused requests are lost.
    await rates.giveBack(key, unused, window).catch(() => {});
  }

  /** So that other processes can use it. */
  #returnWhenIdle(): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined || this.#idle || this.#reserved === 0) return;
    const onTime = () => {
      this.#idle = undefined;
      if (this.#asking || this.#now() - this.#usedAt < idleMs) return this.#returnWhenIdle();
      void this.#returnUnused();
    };
    this.#idle = setTimeout(onTime, idleMs).unref();
  }

  get #isAway(): boolean {
    return this.#isLate || this.#options.isAway();
  }

  /** The clock may be set back: then what is known of the window is not true any more. */
  #isOpen(now: number): boolean {
    return now < this.#endsAt && this.#endsAt - now <= this.limit.windowMs;
  }

  /** What was counted ahead before the limit was lowered may be more than the limit allows now. */
  #use(requests: number): number {
    const free = this.limit.max - (this.#known - this.#reserved);
    const taken = Math.max(0, Math.min(requests, this.#reserved, free));
    this.#reserved -= taken;
    return taken;
  }

  /** Asks for all that wait, until none do. Never rejects. */
  async #ask(): Promise<void> {
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      const isCounted = !this.#isAway && (await this.#count(waiting));
      for (const { requests, resolve } of waiting) resolve(isCounted ? this.#use(requests) : this.#takeAlone(requests));
    }
    this.#asking = undefined;
  }

  /** Has the database count what is missing; false where it does not answer. */
  async #count(waiting: readonly Waiting[]): Promise<boolean> {
    const { key, rates, block, patienceMs = PATIENCE_MS, logger } = this.#options;
    const { max, windowMs } = this.limit;
    const now = this.#now();
    const isOpen = this.#isOpen(now);
    if (!isOpen) [this.#reserved, this.#known, this.#own] = [0, 0, 0];
    const wanted = waiting.reduce((sum, { requests }) => sum + requests, -this.#reserved);
    if (wanted <= 0) return true;
    const isShared = this.#known > this.#own;
    const asked = Math.max(wanted, block({ max, free: Math.max(0, max - this.#known), isShared, now }));
    // What was counted alone in a window that is over is forgotten with it.
    const owed = isOpen ? this.#owed : 0;
    const counting = rates.take(key, asked + owed, { max, windowMs });
    try {
      const counted = await within(counting, patienceMs);
      if (!counted) {
        this.#followLate(counting, asked + owed);
        return false;
      }
      this.#owed = 0;
      this.#note(counted, { asked, owed });
      return true;
    } catch (error) {
      if (!this.#isAlone) logger.warn(`requests are counted by this process alone: ${messageOf(error)}`);
      this.#isAlone = true;
      return false;
    }
  }

  #note({ granted, used, window, leftMs }: CountedRate, { asked, owed }: { asked: number; owed: number }): void {
    const now = this.#now();
    const endsAt = now + Math.min(leftMs, this.limit.windowMs);
    if (window === this.#window) this.#endsAt = Math.min(this.#endsAt, endsAt);
    else [this.#window, this.#endsAt, this.#reserved, this.#own] = [window, endsAt, 0, 0];
    this.#reserved += Math.max(0, granted - owed);
    this.#known = used;
    this.#own += granted;
    this.#returnWhenIdle();
    if (granted < asked + owed) this.#usedUntil = Math.min(this.#endsAt, now + ASK_AGAIN_MS);
    if (this.#isAlone) this.#options.logger.info("requests are counted in the database again");
    this.#isAlone = false;
  }

  /** It counts in the database what was answered without it. */
  #followLate(counting: Promise<CountedRate>, asked: number): void {
    this.#isLate = true;
    const onEnd = () => (this.#isLate = false);
    counting.then(() => {
      this.#owed = Math.max(0, this.#owed - asked);
      onEnd();
    }, onEnd);
  }

  #takeAlone(requests: number): number {
    const now = this.#now();
    if (!this.#isOpen(now)) {
      [this.#window, this.#endsAt] = [undefined, now + this.limit.windowMs];
      [this.#known, this.#own, this.#owed, this.#reserved] = [0, 0, 0, 0];
    }
    const ahead = this.#use(requests);
    const free = Math.max(0, this.limit.max - this.#known - this.#owed);
    const taken = Math.min(requests - ahead, free);
    this.#owed += taken;
    return ahead + taken;
  }
}

/** A part that is used up faster is too small. */
const QUICK_MS = 100;

/** Of what is left, a process takes no larger part: of a window of its own, and of one that others use as well. */
const LARGEST = { alone: 1 / 4, shared: 1 / 32 };

/**
 * How many requests a process counts ahead where a write in the database takes the time of some calls. Slow callers are counted
 * one by one, and the parts of fast ones are doubled, so that a call costs no more with large limits. The last requests
 * of a window are counted one by one again: what one process holds and does not use is missing for the others.
 */
export class GrowingPart {
  #size = 1;
  #askedAt = -Infinity;

  /** The size of the next one. */
  next({ free, isShared, now }: WindowUse): number {
    const took = now - this.#askedAt;
    if (took < QUICK_MS) this.#size *= 2;
    else if (took >= 10 * QUICK_MS) this.#size = 1;
    this.#askedAt = now;
    this.#size = Math.max(1, Math.min(this.#size, Math.floor(free * (isShared ? LARGEST.shared : LARGEST.alone))));
    return this.#size;
  }
}

/** Counts requests against one limit: so many in a window, which starts with the first one. */
export interface RequestCounter {
  readonly limit: ExceededLimit;
  /** Counts as many of these requests as the limit allows, and says how many that are. */
  take(requests: number): number | Promise<number>;
  /** The window in which it counts now. */
  readonly window: number;
  /** Takes back what was counted in a window for requests that another limit refused. Nothing where that window is over. */
  giveBack(requests: number, window: number): void;
  /** When the window ends. */
  readonly retryAfterMs: number;
  /** Another number for the same window. */
  setMax(max: number): void;
  close(): Promise<void>;
}
