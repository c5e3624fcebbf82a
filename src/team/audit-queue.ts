import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { INTERNAL_ERROR } from "../protocol/json-rpc.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import type { AuditLog } from "../store/audit/audit-log.ts";
import type { Logger } from "../text/logger.ts";
import { incidentEntry } from "./audit-text.ts";

export interface AuditQueueOptions {
  audit: Pick<AuditLog, "append" | "wasAppended">;
  logger: Logger;
  now?: () => number;
  /** Records that may wait; more are dropped. Default: 20,000. */
  maxWaiting?: number;
  /** How long records are collected before they are written, where nobody waits for them. Default: 100 ms. */
  collectMs?: number;
}

interface Waiting {
  tenant: string;
  entry: AuditEntry;
  resolve?: (() => void) | undefined;
  reject?: ((error: unknown) => void) | undefined;
  /** Says how many records were dropped. */
  isAboutDropped?: boolean | undefined;
}

const MAX_WAITING = 20_000;
const COLLECT_MS = 100;
/** Records in one transaction. */
const BATCH = 1_000;
const RETRY_MS = { first: 250, most: 5_000 };
/** The characters of the records that wait. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Writes records to the store in batches. What does not fit while the store is slow or away is dropped, counted, and the count is recorded. */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  readonly #now: () => number;
  #waiting: Waiting[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the timer fires as soon as it can. */
  #isSoon = false;
  #isWriting = false;
  #failure: unknown;
  #retryMs = RETRY_MS.first;
  /** By tenant: how many since when. */
  readonly #dropped = new Map<string, { count: number; since: number }>();
  #droppedTotal = 0;
  /** So many records are written one by one. */
  #alone = 0;
  /** So many of the first may have been written: the outcome of their write is not known. Later ones are not among them. */
  #uncertain = 0;
  #idle: (() => void)[] = [];
  #isClosing = false;
  #isOver = false;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** How many records wait to be written. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many records were dropped since the start. */
  get dropped(): number {
    return this.#droppedTotal;
  }

  /** Why the last write failed; undefined where it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Nobody waits for it. */
  add(tenant: string, entry: AuditEntry): void {
    if (this.#isFull) return this.#drop(tenant);
    this.#push({ tenant, entry });
    this.#writeSoon(this.#waiting.length >= BATCH ? 0 : (this.#options.collectMs ?? COLLECT_MS));
  }

  /** Resolves when it is durable. Rejects where it cannot be recorded now. */
  addDurable(tenant: string, entry: AuditEntry): Promise<void> {
    if (this.#isFull) {
      this.#drop(tenant);
      return Promise.reject(unrecorded(new Error("too many records wait")));
    }
    return new Promise((resolve, reject) => {
      this.#push({ tenant, entry, resolve, reject });
      this.#writeSoon(0);
    });
  }

  /** Writes what waits, for at most this time. */
  async close(limitMs: number): Promise<void> {
    this.#isClosing = true;
    if (this.#waiting.length === 0 && !this.#isWriting && this.#dropped.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
    const written = new Promise<void>((resolve) => this.#idle.push(resolve));
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#write();
    await Promise.race([written, enough]);
    // A write that is under way is not followed by others, which would keep the process from ending.
    this.#isOver = true;
    clearTimeout(timer);
    clearTimeout(this.#timer);
    const lost = this.#waiting.length;
    if (lost > 0) this.#options.logger.error(`${lost} records of the audit could not be written before the end`);
  }

  get #isFull(): boolean {
    return this.#waiting.length >= (this.#options.maxWaiting ?? MAX_WAITING) || this.#characters > MAX_CHARACTERS;
  }

  #push(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#characters += waiting.entry.text.length;
  }

  #drop(tenant: string): void {
    this.#droppedTotal++;
    const known = this.#dropped.get(tenant);
    if (known) known.count++;
    else {
      this.#dropped.set(tenant, { count: 1, since: this.#now() });
      this.#options.logger.error(`records of the audit of the tenant "${tenant}" are dropped: too many wait`);
    }
  }

  /** A write that is under way goes on with what is there when it ends. */
  #writeSoon(ms: number): void {
    if (this.#isWriting || this.#failure !== undefined) return;
    // A timer that is set again for each record would never fire while records come.
    if (this.#timer && (ms > 0 || this.#isSoon)) return;
    clearTimeout(this.#timer);
    this.#isSoon = ms === 0;
    this.#writeLater(ms);
  }

  #writeLater(ms: number): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#write(), ms);
  }

  async #write(): Promise<void> {
    this.#timer = undefined;
    this.#isSoon = false;
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#waiting.length > 0 || this.#dropped.size > 0) {
        if (this.#waiting.length === 0) this.#recordDropped();
        await this.#writeBatch();
        if (!this.#isUrgent) break;
      }
    } finally {
      this.#isWriting = false;
    }
    if (this.#failure !== undefined) {
      this.#writeLater(this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.most);
    } else if (this.#waiting.length > 0) this.#writeSoon(this.#options.collectMs ?? COLLECT_MS);
    if (this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Whether what waits is written at once: there is a whole batch, or somebody waits for it. */
  get #isUrgent(): boolean {
    if (this.#isOver || this.#failure !== undefined) return false;
    if (this.#alone > 0) return true;
    const { length } = this.#waiting;
    if (this.#dropped.size > 0 && length < BATCH) return true;
    return length > 0 && (length >= BATCH || this.#isClosing || this.#waiting[0]?.resolve !== undefined);
  }

  /** Something in a batch cannot be written, whatever it is: then each record is tried alone, and that one is dropped. */
  #giveUp(batch: readonly Waiting[], error: unknown): void {
    const [first] = batch;
    this.#uncertain = 0;
    if (batch.length > 1) {
      this.#alone = batch.length;
      this.#waiting = [...batch, ...this.#waiting];
    } else if (first?.isAboutDropped) {
      // There is nothing in it that a database would refuse: it refuses everything, and is tried again after a while.
      this.#fail(batch, error);
    } else if (first) {
      this.#options.logger.error(`a record of the audit cannot be written: ${messageOf(error)}`);
      this.#characters -= first.entry.text.length;
      this.#drop(first.tenant);
      first.reject?.(unrecorded(error));
    }
  }

  /** Takes the oldest records of one tenant out of those that wait. Mostly they are of one tenant alone. */
  #take(tenant: string, most: number): Waiting[] {
    const other = this.#waiting.findIndex((each) => each.tenant !== tenant);
    if (other === -1 || other >= most) return this.#waiting.splice(0, most);
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const each of this.#waiting) (each.tenant === tenant && batch.length < most ? batch : rest).push(each);
    this.#waiting = rest;
    return batch;
  }

  /** The oldest records of one tenant. */
  async #writeBatch(): Promise<void> {
    const tenant = this.#waiting[0]?.tenant;
    if (tenant === undefined) return;
    const most = this.#alone > 0 ? 1 : this.#uncertain || BATCH;
    this.#alone = Math.max(0, this.#alone - 1);
    const batch = this.#take(tenant, most);
    const entries = batch.map(({ entry }) => entry);
    try {
      const { audit } = this.#options;
      const [first] = entries;
      // A write whose outcome is not known may have succeeded.
      const isThere = this.#failure !== undefined && first !== undefined && (await audit.wasAppended(tenant, first));
      if (!isThere) await audit.append(tenant, entries);
    } catch (error) {
      if (isTemporary(error)) this.#fail(batch, error);
      else this.#giveUp(batch, error);
      return;
    }
    this.#uncertain = 0;
    if (this.#failure !== undefined) this.#options.logger.warn("the audit is recorded again");
    this.#failure = undefined;
    this.#retryMs = RETRY_MS.first;
    for (const { entry, resolve } of batch) {
      this.#characters -= entry.text.length;
      resolve?.();
    }
  }

  /** Nobody waits any longer, but the records are written when that is possible again. */
  #fail(batch: readonly Waiting[], error: unknown): void {
    if (this.#failure === undefined) {
      this.#options.logger.error(`the audit cannot be recorded: ${messageOf(error)}`);
    }
    this.#failure = error;
    this.#uncertain = batch.length;
    const kept = [...batch, ...this.#waiting];
    for (const { reject } of kept) reject?.(unrecorded(error));
    this.#waiting = kept.map(({ tenant, entry, isAboutDropped }) => ({ tenant, entry, isAboutDropped }));
  }

  #recordDropped(): void {
    for (const [tenant, { count, since }] of this.#dropped) {
      const incident = { tenant, keyId: null, at: since, method: "nexus/audit", outcome: "dropped", errorCode: null };
      this.#push({ tenant, entry: incidentEntry({ ...incident, count }), isAboutDropped: true });
    }
    this.#dropped.clear();
  }
}

function isTemporary(error: unknown): boolean {
  return error instanceof NexusError && error.code === "STORE_UNAVAILABLE";
}

/** What a caller gets instead of its answer. `mayHaveReached`: whether the call may have been carried out. */
export function unrecorded(cause: unknown, mayHaveReached = true): NexusError {
  const message = "The call cannot be recorded in the audit of the gateway";
  const data = { code: "STORE_UNAVAILABLE", mayHaveReached };
  return new NexusError("STORE_UNAVAILABLE", `${message}: ${messageOf(cause)}`, {
    rpc: { code: INTERNAL_ERROR, message: `${message}. Retry later`, data },
    cause,
    mayHaveReached,
  });
}
