import { rateLimited, type ExceededLimit } from "../gateway/operation/allowance.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import type { RequestCounter } from "./request-counter.ts";

const DAY_MS = 86_400_000;

/** How soon a caller may come again after a call too many: nobody knows when one of the others ends. */
const CALL_ENDS_MS = 1_000;

export interface HolderOptions {
  /** Names it in the store. */
  key: string;
  /** What the names of its limits begin with. */
  prefix: "" | "tenant-";
  newCounter: (key: string, limit: ExceededLimit) => RequestCounter;
}

/** A key or a tenant that has limits, and what it has used of them. It outlives changes of its limits. */
export class LimitedHolder {
  readonly #options: HolderOptions;
  #limits: RequestLimits = {};
  #rate: RequestCounter | undefined;
  #day: RequestCounter | undefined;
  #running = 0;

  constructor(options: HolderOptions) {
    this.#options = options;
  }

  get maxBytes(): number | undefined {
    return this.#limits.maxBytes;
  }

  get limitsCalls(): boolean {
    return this.#limits.concurrent !== undefined;
  }

  get rate(): RequestCounter | undefined {
    return this.#rate;
  }

  get day(): RequestCounter | undefined {
    return this.#day;
  }

  /** The limits as they are now. */
  apply(limits: RequestLimits): void {
    if (limits === this.#limits) return;
    this.#limits = limits;
    const { rate, perDay } = limits;
    this.#rate = this.#counter(this.#rate, "rate", rate);
    this.#day = this.#counter(
      this.#day,
      "per-day",
      perDay === undefined ? undefined : { max: perDay, windowMs: DAY_MS },
    );
  }

  /** Counts a call that begins; throws RATE_LIMITED. */
  enter(): void {
    const max = this.#limits.concurrent ?? Infinity;
    if (this.#running >= max) {
      throw rateLimited({ name: `${this.#options.prefix}concurrent`, max, windowMs: 0 }, CALL_ENDS_MS);
    }
    this.#running++;
  }

  leave(): void {
    this.#running--;
  }

  async close(): Promise<void> {
    await Promise.all([this.#rate?.close(), this.#day?.close()]);
  }

  /** Another number counts what was used before; another window does not. */
  #counter(
    before: RequestCounter | undefined,
    name: string,
    wanted: RequestLimits["rate"],
  ): RequestCounter | undefined {
    if (wanted && before?.limit.windowMs === wanted.windowMs) {
      before.setMax(wanted.max);
      return before;
    }
    void before?.close();
    if (!wanted) return undefined;
    const { key, prefix, newCounter } = this.#options;
    return newCounter(`${key}:${wanted.windowMs}`, { name: `${prefix}${name}`, ...wanted });
  }
}
