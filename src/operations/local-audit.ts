import type { AuditSettings } from "../config/gateway-settings.ts";
import { messageOf } from "../errors/nexus-error.ts";
import { unrecorded } from "../team/audit-queue.ts";
import { incidentEntry, type Incident } from "../team/audit-text.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";

interface LocalAuditOptions {
  store: Pick<Store, "audit">;
  loadSettings: () => Promise<AuditSettings>;
  logger: Logger;
}

/** Records what a command changes in an opened store: one record, which is durable before the command ends. */
export class LocalAudit {
  readonly #options: LocalAuditOptions;
  #settings: Promise<AuditSettings> | undefined;

  constructor(options: LocalAuditOptions) {
    this.#options = options;
  }

  /** In closed mode no change is made that could not be recorded. */
  async requireReady(tenant: string): Promise<void> {
    const { enabled, onFailure } = await this.#load();
    if (!enabled || onFailure === "open") return;
    await this.#options.store.audit.requireAppendable(tenant).catch((error: unknown) => {
      throw unrecorded(error, false);
    });
  }

  async recordIncident(incident: Incident): Promise<void> {
    const { enabled, onFailure } = await this.#load();
    if (!enabled) return;
    const { store, logger } = this.#options;
    await store.audit.append(incident.tenant, [incidentEntry(incident)]).catch((error: unknown) => {
      if (onFailure === "closed") throw unrecorded(error);
      logger.warn(`this change is not in the audit: ${messageOf(error)}`);
    });
  }

  #load(): Promise<AuditSettings> {
    return (this.#settings ??= this.#options.loadSettings());
  }
}
