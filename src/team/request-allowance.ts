import { rateLimited, type Allowance, type RunningCall } from "../gateway/operation/allowance.ts";
import type { Admission } from "../server/core/core.ts";
import type { Principal } from "../server/core/principal.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import { LimitedHolder, type HolderOptions } from "./limited-holder.ts";
import { WindowCounter, type RequestCounter } from "./request-counter.ts";

export interface RequestAllowanceOptions {
  /** The limits of a key: the same object for as long as they are the same. */
  limitsOf: (principal: Principal) => RequestLimits | undefined;
}

/** Counts the requests of keys and tenants against their limits. */
export class RequestAllowance implements Allowance, AsyncDisposable {
  readonly #options: RequestAllowanceOptions;
  /** By the id of the principal. */
  readonly #limited = new Map<string, LimitedPrincipal>();

  constructor(options: RequestAllowanceOptions) {
    this.#options = options;
  }

  take(principal: Principal, requests: number): Admission | undefined | Promise<Admission | undefined> {
    return this.#find(principal)?.take(requests);
  }

  enter(principal: Principal): RunningCall | undefined {
    return this.#find(principal)?.enter();
  }

  maxRequestBytes(principal: Principal): number | undefined {
    return this.#find(principal)?.maxBytes;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#limited.values()].map((limited) => limited.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #find(principal: Principal): LimitedPrincipal | undefined {
    const limits = this.#options.limitsOf(principal);
    if (!limits) return undefined;
    const known = this.#limited.get(principal.id);
    if (known?.limits === limits) return known;
    const limited = known ?? new LimitedPrincipal(this.#holder(`key:${principal.id}`, ""));
    limited.apply(limits);
    this.#limited.set(principal.id, limited);
    return limited;
  }

  #holder(key: string, prefix: HolderOptions["prefix"]): LimitedHolder {
    return new LimitedHolder({ key, prefix, newCounter: (_key, limit) => new WindowCounter(limit) });
  }
}

/** The limits that a principal has: those of its key. */
class LimitedPrincipal implements RunningCall {
  readonly #own: LimitedHolder;
  #counters: readonly RequestCounter[] = [];
  limits: RequestLimits | undefined;

  constructor(own: LimitedHolder) {
    this.#own = own;
  }

  get maxBytes(): number | undefined {
    return this.#own.maxBytes;
  }

  apply(limits: RequestLimits): void {
    this.limits = limits;
    this.#own.apply(limits);
    // What is refused by a short window must not count for the day.
    this.#counters = [this.#own.rate, this.#own.day].filter((counter) => counter !== undefined);
  }

  take(requests: number): Admission | undefined | Promise<Admission | undefined> {
    return takeFrom(this.#counters, requests);
  }

  enter(): RunningCall | undefined {
    if (!this.#own.limitsCalls) return undefined;
    this.#own.enter();
    return this;
  }

  leave(): void {
    this.#own.leave();
  }

  close(): Promise<void> {
    return this.#own.close();
  }
}

/** Asks one counter after the other. What a later one refuses, the earlier ones take back. */
function takeFrom(
  counters: readonly RequestCounter[],
  requests: number,
): Admission | undefined | Promise<Admission | undefined> {
  let admitted = requests;
  let refusedBy: RequestCounter | undefined;
  for (const [index, counter] of counters.entries()) {
    const taken = counter.take(admitted);
    if (typeof taken !== "number") return takeSlowly(counters, { index, taken, admitted, refusedBy });
    if (taken === admitted) continue;
    for (const earlier of counters.slice(0, index)) earlier.giveBack(admitted - taken, earlier.window);
    [admitted, refusedBy] = [taken, counter];
    if (admitted === 0) break;
  }
  return refusedBy && refusal(admitted, refusedBy);
}

interface Taking {
  /** Of the counter that is being asked. */
  index: number;
  taken: Promise<number>;
  admitted: number;
  refusedBy: RequestCounter | undefined;
}

/** The same from a counter on that has to ask the database. */
async function takeSlowly(
  counters: readonly RequestCounter[],
  { index: first, taken: begun, admitted: before, refusedBy: refused }: Taking,
): Promise<Admission | undefined> {
  const windows = counters.map(({ window }) => window);
  let [admitted, refusedBy] = [before, refused];
  for (const [index, counter] of counters.entries()) {
    if (index < first || admitted === 0) continue;
    const taken = await (index === first ? begun : counter.take(admitted));
    windows[index] = counter.window;
    if (taken === admitted) continue;
    for (const [at, earlier] of counters.slice(0, index).entries())
      earlier.giveBack(admitted - taken, windows[at] ?? NaN);
    [admitted, refusedBy] = [taken, counter];
  }
  return refusedBy && refusal(admitted, refusedBy);
}

function refusal(admitted: number, { limit, retryAfterMs }: RequestCounter): Admission {
  return { admitted, error: rateLimited(limit, retryAfterMs) };
}
