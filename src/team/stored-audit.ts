import type { IncomingHttpHeaders } from "node:http";
import type { AuditSettings } from "../config/gateway-settings.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { AuditBacklog, AuditContent, AuditRecord, AuditTrail } from "../gateway/operation/audit.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";
import { AuditQueue, type AuditQueueOptions, unrecorded } from "./audit-queue.ts";
import { AuditText, type Incident, incidentEntry } from "./audit-text.ts";
import { isForwarded } from "../protocol/methods.ts";
import { ANYBODY, type Principal } from "../server/core/principal.ts";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import { correlationOf } from "../server/core/request-meta.ts";
import type { GatewayResources } from "../gateway/operation/gateway-resources.ts";
import type { Params, Result } from "../protocol/json-rpc.ts";
import type { AuditLog } from "../store/audit/audit-log.ts";

export interface StoredAuditOptions extends Pick<AuditQueueOptions, "maxWaiting" | "collectMs"> {
  store: Pick<Store, "audit" | "keys" | "masterKey">;
  settings: AuditSettings;
  logger: Logger;
  now?: () => number;
}

/** How long a gateway that ends waits for the store. */
const CLOSE_MS = 5_000;
const FIRST_PRUNE_MS = 60_000;
const PRUNE_MS = 3_600_000;

/** The audit of a gateway, in its store. */
export class StoredAudit implements AuditTrail, AsyncDisposable {
  readonly isClosed: boolean;
  readonly ownCalls: OwnCalls;
  readonly #options: StoredAuditOptions;
  readonly #queue: AuditQueue;
  readonly #text: AuditText;
  readonly #refused: RefusedCredentials;
  readonly #overLimit: RefusedRequests;
  #pruning: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(options: StoredAuditOptions) {
    const { store, settings, logger, now } = options;
    this.#options = options;
    this.isClosed = settings.onFailure === "closed";
    this.ownCalls = new OwnCalls(store.audit, now);
    this.#queue = new AuditQueue({ ...options, audit: store.audit });
    this.#text = new AuditText(store.masterKey.derive("audit-values"), settings);
    const write = (tenant: string, entry: AuditEntry) => this.#write(tenant, entry);
    this.#refused = new RefusedCredentials({ keys: store.keys, write, ...(now && { now }) });
    this.#overLimit = new RefusedRequests({ write, now });
    if (settings.retentionMs !== undefined) this.#pruneLater(FIRST_PRUNE_MS, settings.retentionMs);
    logger.debug(`calls are recorded in the audit: ${settings.onFailure}`);
  }

  get backlog(): AuditBacklog {
    const { waiting, dropped } = this.#queue;
    return { waiting, dropped };
  }

  record(record: AuditRecord, content: AuditContent): Promise<void> | undefined {
    if (this.#overLimit.count(record)) return undefined;
    return this.#write(record.principal.tenant, this.#text.entryOf(record, content));
  }

  /** In closed mode no call and no change begins that could not be recorded. */
  requireReady(): void {
    const { failure } = this.#queue;
    if (this.isClosed && failure !== undefined) throw unrecorded(failure, false);
  }

  recordRefused(headers: IncomingHttpHeaders): Promise<void> {
    return this.#refused.record(headers);
  }

  /** Records what is no call of MCP, for example a change through the REST API. In closed mode, resolves when it is durable. */
  recordIncident(incident: Incident): Promise<void> | undefined {
    return this.#write(incident.tenant, incidentEntry(incident));
  }

  /** Writes what waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#pruning);
    await Promise.all([this.#refused.close(), this.#overLimit.close()]);
    await this.#queue.close(CLOSE_MS);
  }

  #write(tenant: string, entry: AuditEntry): Promise<void> | undefined {
    if (this.isClosed) return this.#queue.addDurable(tenant, entry);
    this.#queue.add(tenant, entry);
    return undefined;
  }

  #pruneLater(ms: number, retentionMs: number): void {
    if (this.#isEnded) return;
    this.#pruning = setTimeout(() => {
      void this.#prune(retentionMs).finally(() => this.#pruneLater(PRUNE_MS, retentionMs));
    }, ms).unref();
  }

  /** Removes what is older than the retention, of removed tenants as well. What fails for one tenant is done for the others. */
  async #prune(retentionMs: number): Promise<void> {
    const { store, logger, now = Date.now } = this.#options;
    const report = (error: unknown) =>
      logger.error(`old records of the audit could not be removed: ${messageOf(error)}`);
    const tenants = await store.audit.tenants().catch(report);
    for (const tenant of tenants ?? []) {
      const removed = await store.audit.prune(tenant, now() - retentionMs).catch(report);
      if (removed) logger.info(`${removed} old records of the audit of the tenant "${tenant}" were removed`);
    }
  }
}

interface RefusedRequestsOptions {
  write: (tenant: string, entry: AuditEntry) => Promise<void> | undefined;
  now?: (() => number) | undefined;
}

type Refused = Pick<Incident, "tenant" | "keyId" | "method">;

/** Requests over a limit cost their caller nothing. Of those of a key with the same method, the first is recorded in full and the others of a window as one. */
class RefusedRequests {
  readonly #repeated: RepeatedEvents<Refused>;

  constructor({ write, now }: RefusedRequestsOptions) {
    this.#repeated = new RepeatedEvents({
      now,
      write: (refused, { count, lastAt: at }) =>
        write(refused.tenant, incidentEntry({ ...refused, at, outcome: "refused", errorCode: "RATE_LIMITED", count })),
    });
  }

  /** Counts a request over a limit, where there was one like it in this window; false where it has to be recorded. */
  count({ errorCode, principal, method: asked }: AuditRecord): boolean {
    if (errorCode !== "RATE_LIMITED") return false;
    const { tenant, id } = principal;
    // Callers must not be able to make kinds of their own.
    const method = isForwarded(asked) ? asked : "other";
    const kind = JSON.stringify([tenant, id, method]);
    if (this.#repeated.count(kind)) return true;
    this.#repeated.begin(kind, { tenant, keyId: id === ANYBODY.id ? null : id, method });
    return false;
  }

  /** Records what was counted and not recorded yet. */
  close(): Promise<void> {
    return this.#repeated.end();
  }
}

interface RefusedCredentialsOptions {
  keys: Pick<Store["keys"], "find">;
  write: (tenant: string, entry: AuditEntry) => Promise<void> | undefined;
  now?: () => number;
}

/** With which key an attempt was made, where that exists, and whose it is. */
type Attempted = Pick<Incident, "tenant" | "keyId">;

/** So many keys are looked up in a window. */
const MAX_LOOKUPS = 100;
const KEY_ID = /^Bearer +nxs_([A-Za-z0-9]{16})(?:_|$)/i;
const NO_KEY = "";

/** Records refused credentials: of those with the same key, or with none that exists, the first at once and the others of a window as one. */
class RefusedCredentials {
  readonly #options: RefusedCredentialsOptions;
  readonly #now: () => number;
  /** By the id of a key that exists; those without one are of one kind. */
  readonly #repeated: RepeatedEvents<Attempted>;
  #lookups = 0;

  constructor(options: RefusedCredentialsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#repeated = new RepeatedEvents({
      now: this.#now,
      write: (attempted, { count, lastAt }) => this.#write({ ...attempted, at: lastAt, count }),
      onEnd: () => (this.#lookups = 0),
    });
  }

  async record(headers: IncomingHttpHeaders): Promise<void> {
    const id = KEY_ID.exec(headers.authorization ?? "")?.[1] ?? NO_KEY;
    if (this.#repeated.count(id)) return;
    const tenant = id === NO_KEY ? undefined : await this.#findTenant(id);
    const known = tenant === undefined ? NO_KEY : id;
    if (this.#repeated.count(known)) return;
    const attempted = { tenant: tenant ?? DEFAULT_TENANT, keyId: known === NO_KEY ? null : known };
    this.#repeated.begin(known, attempted);
    const correlation = correlationOf(undefined, headers);
    await this.#write({ ...attempted, at: this.#now(), count: 1, correlation });
  }

  /** Records what was counted and not recorded yet. */
  close(): Promise<void> {
    return this.#repeated.end();
  }

  async #findTenant(id: string): Promise<string | undefined> {
    if (++this.#lookups > MAX_LOOKUPS) return undefined;
    const key = await this.#options.keys.find(id).catch(() => undefined);
    return key?.tenant;
  }

  #write(attempt: Pick<Incident, "tenant" | "keyId" | "at" | "count" | "correlation">): Promise<void> | undefined {
    const facts = { method: "authenticate", outcome: "refused", errorCode: "AUTH_REQUIRED" };
    return this.#options.write(attempt.tenant, incidentEntry({ ...attempt, ...facts }));
  }
}

interface RepeatedEventsOptions<About> {
  /** Records the number of events that were counted. */
  write: (about: About, counted: CountedEvents) => Promise<void> | undefined;
  /** Called when a window ends. */
  onEnd?: (() => void) | undefined;
  now?: (() => number) | undefined;
}

interface CountedEvents {
  count: number;
  lastAt: number;
}

/** How long further events are counted before their number is recorded. */
const WINDOW_MS = 10_000;

/**
 * Counts events of the same kind. The first of a window is recorded at once by its owner, the others together with their
 * number: whoever repeats something that is refused must not fill the disk.
 */
class RepeatedEvents<About> {
  readonly #options: RepeatedEventsOptions<About>;
  readonly #now: () => number;
  /** By kind: those that are not recorded yet. */
  readonly #counted = new Map<string, CountedEvents & { about: About }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RepeatedEventsOptions<About>) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Counts an event where there was one of its kind in this window; false where it has to be recorded. */
  count(kind: string): boolean {
    const counted = this.#counted.get(kind);
    if (!counted) return false;
    counted.count++;
    counted.lastAt = this.#now();
    return true;
  }

  /** The first event of its kind: those that follow are counted. */
  begin(kind: string, about: About): void {
    this.#counted.set(kind, { about, count: 0, lastAt: this.#now() });
    this.#timer ??= setTimeout(() => void this.end(), WINDOW_MS).unref();
  }

  /** Ends the window: records what was counted. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#options.onEnd?.();
    const counted = [...this.#counted.values()].filter(({ count }) => count > 0);
    this.#counted.clear();
    await Promise.allSettled(counted.map(async ({ about, ...events }) => this.#options.write(about, events)));
  }
}

const URI = "nexus://calls";
/** What the resource shows: the newest calls of a day. */
const SHOWN = 100;
const DAY_MS = 86_400_000;

const RESOURCE: Params = {
  uri: URI,
  name: "calls",
  title: "Your calls through this gateway",
  description: `The newest ${SHOWN} calls of the last 24 hours that were made with your API key, without arguments and results.`,
  mimeType: "application/json",
  annotations: { audience: ["user", "assistant"], priority: 0.1 },
};

/** The audit of a caller's own calls, as a resource that it can read. */
class OwnCalls implements GatewayResources {
  readonly #audit: Pick<AuditLog, "list">;
  readonly #now: () => number;

  constructor(audit: Pick<AuditLog, "list">, now: () => number = Date.now) {
    this.#audit = audit;
    this.#now = now;
  }

  list(principal: Principal): readonly Params[] {
    return hasKey(principal) ? [RESOURCE] : [];
  }

  read(principal: Principal, uri: string): Promise<Result> | undefined {
    return uri === URI && hasKey(principal) ? this.#read(principal) : undefined;
  }

  async #read({ tenant, id: keyId }: Principal): Promise<Result> {
    const filter = { keyId, since: this.#now() - DAY_MS };
    const { items } = await this.#audit.list(tenant, filter, { limit: SHOWN });
    // Whatever the audit keeps of them, arguments and results may be private to somebody who used the key before.
    const calls = items.map(({ arguments: _arguments, result: _result, hash: _hash, ...call }) => call);
    const text = JSON.stringify({ calls }, undefined, 2);
    const contents = [{ uri: URI, mimeType: "application/json", text }];
    return { resultType: "complete", contents, ttlMs: 0, cacheScope: "private" };
  }
}

/** Callers without a key are all the same to the gateway, so none has calls of its own. */
function hasKey({ id }: Principal): boolean {
  return id !== ANYBODY.id;
}
