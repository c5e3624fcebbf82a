import type { IncomingHttpHeaders } from "node:http";
import type { AuditSettings } from "../config/gateway-settings.ts";
import { messageOf } from "../errors/nexus-error.ts";
import type { AuditBacklog, AuditContent, AuditRecord, AuditTrail } from "../gateway/operation/audit.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";
import { AuditQueue, unrecorded, type AuditQueueOptions } from "./audit-queue.ts";
import { AuditText, incidentEntry, type Incident } from "./audit-text.ts";
import { OwnCalls } from "./own-calls.ts";
import { RefusedCredentials } from "./refused-credentials.ts";
import { RefusedRequests } from "./refused-requests.ts";

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
