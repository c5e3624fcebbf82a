import type { AuditCheck } from "../../store/audit/audit-check.ts";
import type { StoredAuditRecord } from "../../store/audit/audit-chain.ts";
import type { AuditFilter } from "../../store/audit/audit-filter.ts";
import type { AuditPage } from "../../store/audit/audit-log.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { OperatedAudit } from "../../team/operate/audit-operations.ts";
import { GatewayClient, MAX_PAGE, queryText, type GatewayClientOptions } from "./gateway-client.ts";

/** The audit of a gateway elsewhere, through its REST API. */
export class RemoteAudit implements OperatedAudit {
  readonly #client: GatewayClient;

  constructor(options: GatewayClientOptions) {
    this.#client = new GatewayClient(options);
  }

  /** Without a name: that of the key. The gateway itself refuses one that it does not know. */
  async requireTenant(name: string | undefined): Promise<string> {
    return name ?? (await this.#client.session()).tenant;
  }

  /** Only an admin can see whether a key exists. */
  async requireKey(tenant: string, id: string): Promise<void> {
    if ((await this.list(tenant, { keyId: id }, { limit: 1 })).items.length > 0) return;
    await this.#client
      .send("GET", `/tenants/${encodeURIComponent(tenant)}/keys/${encodeURIComponent(id)}`)
      .catch((error) => {
        if (asNexusError(error).code !== "FORBIDDEN") throw error;
      });
  }

  async list(
    tenant: string,
    filter: AuditFilter,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<AuditPage> {
    const items: StoredAuditRecord[] = [];
    let next = cursor;
    do {
      const query = queryText({ ...asked(filter), limit: Math.min(MAX_PAGE, limit - items.length), cursor: next });
      const page: { items: StoredAuditRecord[]; next: string | null } = await this.#client.send(
        "GET",
        `${pathOf(tenant)}${query}`,
      );
      items.push(...page.items);
      next = page.next ?? undefined;
    } while (next !== undefined && items.length < limit);
    return { items, next };
  }

  lines(tenant: string, filter: AuditFilter = {}): AsyncGenerator<string> {
    return this.#client.lines(`${pathOf(tenant)}/export${queryText(asked(filter))}`);
  }

  find(tenant: string, seq: number): Promise<StoredAuditRecord | undefined> {
    return this.#client.send("GET", `${pathOf(tenant)}/${seq}`);
  }

  /** Without a name: of all tenants that the key manages. Only the store itself knows of chains that are missing. */
  async verify(tenant: string | undefined): Promise<{ checks: AuditCheck[]; isComplete: boolean }> {
    const checks: AuditCheck[] = [];
    for (const each of tenant === undefined ? await this.#client.managedTenants() : [tenant]) {
      checks.push(checkOf(await this.#client.send("GET", `${pathOf(each)}/verify`)));
    }
    return { checks, isComplete: true };
  }

  async prune(tenant: string, before: number, { force = false } = {}): Promise<number> {
    const body = { before: timeText(before), damaged: force };
    return (await this.#client.send<{ removed: number }>("POST", `${pathOf(tenant)}/prune`, body)).removed;
  }

  /** What was seen is known on the machine of the gateway. */
  acceptLoss(): Promise<void> {
    throw new NexusError("ARGUMENTS_INVALID", "The loss of records cannot be accepted through a gateway", {
      hint: "Run nexus audit verify --accept-loss on the machine of the gateway, with its database.",
      mayHaveReached: false,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** As the REST API answers. */
interface WrittenCheck extends Omit<AuditCheck, "damage" | "lost"> {
  ok: boolean;
  damage: AuditCheck["damage"] | null;
  lost?: (Omit<NonNullable<AuditCheck["lost"]>, "at"> & { at: string }) | null;
}

function checkOf({ ok: _ok, damage, lost, ...check }: WrittenCheck): AuditCheck {
  const known = lost ? { lost: { ...lost, at: Date.parse(lost.at) } } : {};
  return { ...check, ...known, damage: damage ?? undefined };
}

function pathOf(tenant: string): string {
  return `/tenants/${encodeURIComponent(tenant)}/audit`;
}

function asked({ since, until, keyId, server, tool, outcome }: AuditFilter) {
  return { since: timeText(since), until: timeText(until), key: keyId, server, tool, outcome };
}

function timeText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
