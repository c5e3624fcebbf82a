import { type Allowance, type ExceededLimit, rateLimited, type RunningCall } from "../gateway/operation/allowance.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { Admission } from "../server/core/core.ts";
import type { Principal } from "../server/core/principal.ts";
import type { RequestLimits } from "../store/keep/request-limits.ts";
import { rateKeyOfTenant } from "../store/keep/tenants.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";
import { GrowingPart, type RequestCounter, StoredCounter, type WindowUse } from "./stored-counter.ts";
import { Live } from "../async/live.ts";

interface RequestAllowanceOptions {
  store: Pick<Store, "rates" | "tenants" | "changes">;
  /** The limits of a key: the same object for as long as they are the same. */
  limitsOf: (principal: Principal) => RequestLimits | undefined;
  logger: Logger;
}

/** Above this number, those of principals without limits are forgotten. */
const MANY_PRINCIPALS = 10_000;
/**
 * So much of a limit is counted ahead on PostgreSQL, because a query for each request would be slow. What one process has counted ahead is
 * missing for the others, so a limit of under 2,000 is exact to the last request.
 */
const AHEAD = { part: 0.001, most: 10_000 };

/** SQLite is a file on this machine: what takes long there is a busy machine, and no reason to count without it. */
const SQLITE_PATIENCE_MS = 30_000;
/** Processes on one SQLite file count larger parts ahead than those on PostgreSQL, and give back what they do not need. */
const SQLITE_IDLE_MS = 1_000;

/** Counts the requests of keys and tenants against their limits. */
export class RequestAllowance implements Allowance, AsyncDisposable {
  readonly #options: RequestAllowanceOptions;
  readonly #tenantLimits: TenantLimits;
  readonly #tenants = new Map<string, LimitedHolder>();
  /** By the id of the principal. */
  readonly #limited = new Map<string, LimitedPrincipal>();
  #isTidy = false;

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: RequestAllowanceOptions): Promise<RequestAllowance> {
    return new RequestAllowance(options, await TenantLimits.open(options));
  }

  private constructor(options: RequestAllowanceOptions, tenantLimits: TenantLimits) {
    this.#options = options;
    this.#tenantLimits = tenantLimits;
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

  /** What was counted ahead and is not used goes back to the database. */
  async close(): Promise<void> {
    this.#tenantLimits[Symbol.dispose]();
    const holders = [...this.#tenants.values(), ...[...this.#limited.values()].map(({ own }) => own)];
    await Promise.all(holders.map((holder) => holder.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #find(principal: Principal): LimitedPrincipal | undefined {
    const own = this.#options.limitsOf(principal);
    const ofTenant = this.#tenantLimits.find(principal.tenant);
    if (!own && !ofTenant) return undefined;
    const known = this.#limited.get(principal.id);
    if (known && known.ownLimits === own && known.tenantLimits === ofTenant) return known;
    return this.#apply(principal, own, ofTenant);
  }

  #apply(
    principal: Principal,
    limits: RequestLimits | undefined,
    ofTenant: RequestLimits | undefined,
  ): LimitedPrincipal {
    if (this.#limited.size >= MANY_PRINCIPALS) this.#forgetUnlimited();
    const { id, tenant } = principal;
    let limited = this.#limited.get(id);
    if (!limited) {
      const own = this.#holder(`key:${id}`, "");
      limited = new LimitedPrincipal(principal, { own, shared: this.#tenantHolder(tenant) });
      this.#limited.set(id, limited);
    }
    limited.apply(limits, ofTenant);
    return limited;
  }

  #tenantHolder(tenant: string): LimitedHolder {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const holder = this.#holder(rateKeyOfTenant(tenant), "tenant-");
    this.#tenants.set(tenant, holder);
    return holder;
  }

  #holder(key: string, prefix: HolderOptions["prefix"]): LimitedHolder {
    return new LimitedHolder({ key, prefix, newCounter: (counted, limit) => this.#counter(counted, limit) });
  }

  /** All processes on a database count there, with parts that are counted before they are used. */
  #counter(key: string, limit: ExceededLimit): RequestCounter {
    const { store, logger } = this.#options;
    const { rates, changes } = store;
    if (!this.#isTidy) this.#tidy();
    const shared = { key, rates, logger };
    if (rates.areShared) {
      const block = ({ max }: WindowUse) => Math.max(1, Math.min(AHEAD.most, Math.floor(max * AHEAD.part)));
      return new StoredCounter(limit, { ...shared, block, isAway: () => changes.silentSince !== undefined });
    }
    const part = new GrowingPart();
    const times = { patienceMs: SQLITE_PATIENCE_MS, idleMs: SQLITE_IDLE_MS };
    return new StoredCounter(limit, { ...shared, block: (use) => part.next(use), isAway: () => false, ...times });
  }

  #tidy(): void {
    this.#isTidy = true;
    const { store, logger } = this.#options;
    store.rates.removeExpired().catch((error: unknown) => {
      logger.debug(`counts of requests that are over could not be removed: ${messageOf(error)}`);
    });
  }

  #forgetUnlimited(): void {
    for (const [id, limited] of this.#limited) {
      if (this.#options.limitsOf(limited.principal) !== undefined) continue;
      this.#limited.delete(id);
      void limited.own.close();
    }
  }
}

const NO_LIMITS: RequestLimits = {};

/** The limits that hold for a principal: those of its key, and those that it shares with its tenant. */
class LimitedPrincipal implements RunningCall {
  readonly principal: Principal;
  readonly own: LimitedHolder;
  readonly #shared: LimitedHolder;
  #counters: readonly RequestCounter[] = [];
  maxBytes: number | undefined;
  #limitsCalls = false;
  ownLimits: RequestLimits | undefined;
  tenantLimits: RequestLimits | undefined;

  constructor(principal: Principal, { own, shared }: { own: LimitedHolder; shared: LimitedHolder }) {
    this.principal = principal;
    this.own = own;
    this.#shared = shared;
  }

  apply(own: RequestLimits | undefined, ofTenant: RequestLimits | undefined): void {
    this.ownLimits = own;
    this.tenantLimits = ofTenant;
    this.own.apply(own ?? NO_LIMITS);
    this.#shared.apply(ofTenant ?? NO_LIMITS);
    const bytes = Math.min(own?.maxBytes ?? Infinity, ofTenant?.maxBytes ?? Infinity);
    this.maxBytes = bytes === Infinity ? undefined : bytes;
    this.#limitsCalls = own?.concurrent !== undefined || ofTenant?.concurrent !== undefined;
    // What a short window refuses must not count for the day.
    const counters = [this.own.rate, this.#shared.rate, this.own.day, this.#shared.day];
    this.#counters = counters.filter((counter) => counter !== undefined);
  }

  take(requests: number): Admission | undefined | Promise<Admission | undefined> {
    return takeFrom(this.#counters, requests);
  }

  enter(): RunningCall | undefined {
    if (!this.#limitsCalls) return undefined;
    this.own.enter();
    try {
      this.#shared.enter();
    } catch (error) {
      this.own.leave();
      throw error;
    }
    return this;
  }

  leave(): void {
    this.own.leave();
    this.#shared.leave();
  }
}

/** Asks one counter after the other. What a later one refuses, the earlier ones take back. */
function takeFrom(
  counters: readonly RequestCounter[],
  requests: number,
): Admission | undefined | Promise<Admission | undefined> {
  let admitted = requests;
  let refusedBy: RequestCounter | undefined;
  // For each request: without an iterator and its pairs.
  for (let index = 0; index < counters.length; index++) {
    const counter = counters[index];
    if (!counter) break;
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

const DAY_MS = 86_400_000;

/** How soon a caller may come again after a call too many: nobody knows when one of the others ends. */
const CALL_ENDS_MS = 1_000;

interface HolderOptions {
  /** Names it in the store. */
  key: string;
  /** What the names of its limits begin with. */
  prefix: "" | "tenant-";
  newCounter: (key: string, limit: ExceededLimit) => RequestCounter;
}

/** A key or a tenant that has limits, and what it has used of them. It outlives changes of its limits. */
class LimitedHolder {
  readonly #options: HolderOptions;
  #limits: RequestLimits = {};
  #rate: RequestCounter | undefined;
  #day: RequestCounter | undefined;
  #running = 0;

  constructor(options: HolderOptions) {
    this.#options = options;
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

interface TenantLimitsOptions {
  store: Pick<Store, "tenants" | "changes">;
  logger: Logger;
}

/** The limits of tenants, kept in memory and read again when they change, in whatever process. */
class TenantLimits implements Disposable {
  /** Only tenants that have limits. */
  readonly #limits: Live<ReadonlyMap<string, RequestLimits>>;

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: TenantLimitsOptions): Promise<TenantLimits> {
    const limits = new TenantLimits(options);
    await limits.#limits.open();
    return limits;
  }

  private constructor({ store, logger }: TenantLimitsOptions) {
    this.#limits = new Live<ReadonlyMap<string, RequestLimits>>(new Map(), {
      changes: store.changes.of("tenants"),
      read: async () => limitsOf(await store.tenants.list()),
      what: "limits of tenants",
      logger,
    });
  }

  /** The same object for as long as they are the same. */
  find(tenant: string): RequestLimits | undefined {
    return this.#limits.value.get(tenant);
  }

  [Symbol.dispose](): void {
    this.#limits[Symbol.dispose]();
  }
}

function limitsOf(tenants: readonly { name: string; limits: RequestLimits }[]): Map<string, RequestLimits> {
  const limited = tenants.filter(({ limits }) => Object.keys(limits).length > 0);
  return new Map(limited.map(({ name, limits }) => [name, limits]));
}
