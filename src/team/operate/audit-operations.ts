import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { checkAllAudits, checkAudit, type AuditCheck } from "../../store/audit/audit-check.ts";
import type { AuditLog } from "../../store/audit/audit-log.ts";
import type { Store } from "../../store/store.ts";
import { unknownKey } from "./key-operations.ts";

/** What commands about the audit use: the audit of an opened store, or that of a gateway elsewhere. */
export interface OperatedAudit extends Pick<AuditLog, "list" | "lines" | "find" | "prune">, AsyncDisposable {
  /** The tenant that is meant where none is named. Throws NAME_UNKNOWN for a name that may be mistyped. */
  requireTenant(name: string | undefined): Promise<string>;
  /** Throws NAME_UNKNOWN for the id of a key that has no records and does not exist. */
  requireKey(tenant: string, id: string): Promise<void>;
  /** Of one tenant, or of all that can be read. `isComplete`: no chain was removed as a whole. */
  verify(tenant: string | undefined): Promise<{ checks: AuditCheck[]; isComplete: boolean }>;
  /** Says that records which are missing because an older state was put back are known to be lost. */
  acceptLoss(): Promise<void>;
}

/** The audit of an opened store, which is closed with it. */
export class AuditOperations implements OperatedAudit {
  readonly list: AuditLog["list"];
  readonly lines: AuditLog["lines"];
  readonly find: AuditLog["find"];
  readonly prune: AuditLog["prune"];
  readonly #store: Store;

  constructor(store: Store) {
    const { audit } = store;
    this.#store = store;
    this.list = (...given) => audit.list(...given);
    this.lines = (...given) => audit.lines(...given);
    this.find = (...given) => audit.find(...given);
    this.prune = (...given) => audit.prune(...given);
  }

  async requireTenant(name: string = DEFAULT_TENANT): Promise<string> {
    await requireAudited(this.#store, name);
    return name;
  }

  async requireKey(tenant: string, id: string): Promise<void> {
    const { keys } = this.#store;
    // A key of a tenant that was removed is gone, and its records are not.
    const { items } = await this.list(tenant, { keyId: id }, { limit: 1 });
    if (items.length === 0 && !(await keys.find(id))) throw unknownKey(id, await keys.list(tenant));
  }

  async verify(tenant: string | undefined): Promise<{ checks: AuditCheck[]; isComplete: boolean }> {
    const { audit } = this.#store;
    if (tenant === undefined) return checkAllAudits(audit);
    await requireAudited(this.#store, tenant);
    return { checks: [await checkAudit(audit, tenant)], isComplete: true };
  }

  async acceptLoss(): Promise<void> {
    await this.#store.audit.acceptLoss();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
  }
}

/** The audit of a tenant that was removed is kept. One without any records has to exist: its name may be mistyped. */
export async function requireAudited({ audit, tenants }: Pick<Store, "audit" | "tenants">, name: string) {
  const { head, checkpoint } = await audit.findMarks(name);
  if (!head && !checkpoint) await tenants.require(name);
}
