import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { findAuditDamage } from "./audit/audit-check.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import { isMissingFile, type DatabaseAddress } from "./engine/database-address.ts";
import { openEngine } from "./engine/engine.ts";
import { isDamage } from "./engine/store-failure.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { SeenAudit } from "./audit/seen-audit.ts";
import { witnessOf } from "./store.ts";
import { DatabaseSecrets } from "./keep/database-secrets.ts";
import { findKeyCheck } from "./keep/key-check.ts";
import { countRows, findInconsistencies, type KeptTable } from "./keep/kept-rows.ts";
import { PublishedApis } from "./keep/published-apis.ts";
import { TenantServers } from "./keep/tenant-servers.ts";
import { Tenants } from "./keep/tenants.ts";
import { requireKey } from "./key-of-store.ts";
import type { MasterKey, MasterKeyPlace } from "./master-key.ts";
import { LATEST_VERSION, loadVersion, type StoreEngine } from "./tables/migrate.ts";

/** The result of a check. */
export type StoreCheck =
  | { kind: "absent" }
  /** The file is damaged, so the tables were not read. */
  | { kind: "unreadable"; damage: readonly string[] }
  /** The schema is older than this program, so only the file and the version were checked. */
  | { kind: "outdated"; version: number }
  | { kind: "checked"; version: number; damage: readonly string[]; rows: Readonly<Record<KeptTable, number>> };

interface CheckOptions {
  address: DatabaseAddress;
  masterKey: MasterKeyPlace;
  logger: Logger;
}

/** Checks a store without changing it. Throws if the schema is newer or the master key is wrong. */
export async function checkStore({ address, masterKey, logger }: CheckOptions): Promise<StoreCheck> {
  if (isMissingFile(address)) return { kind: "absent" };
  let engine: StoreEngine | undefined;
  try {
    engine = await openEngine(address, logger, { onlyReads: true });
    return await check(engine, address, masterKey);
  } catch (error) {
    if (!(error instanceof NexusError) || !isDamage(error)) throw error;
    return { kind: "unreadable", damage: [messageOf(error.cause)] };
  } finally {
    await engine?.close();
  }
}

async function check(engine: StoreEngine, address: DatabaseAddress, masterKey: MasterKeyPlace): Promise<StoreCheck> {
  const damage = await engine.findDamage();
  if (damage.length > 0) return { kind: "unreadable", damage };
  const version = await loadVersion(engine);
  if (version === 0) return { kind: "absent" };
  if (version < LATEST_VERSION) return { kind: "outdated", version };
  const checkValue = await findKeyCheck(engine.db);
  const what = `The store ${engine.shown}`;
  if (checkValue !== undefined) {
    const key = requireKey(checkValue, await masterKey.find(), { what, place: masterKey });
    damage.push(...(await findUnreadable(engine, key)));
    const now = Date.now;
    const witness = witnessOf(address, key, masterKey);
    const seen = new SeenAudit({ witness, logger: SILENT, now, onlyReads: true });
    const audit = new AuditLog(engine, { key: key.derive("audit"), now, seen });
    damage.push(...(await findAuditDamage(audit)));
  }
  damage.push(...(await findInconsistencies(engine.db)));
  return { kind: "checked", version, damage, rows: await countRows(engine.db) };
}

/** Secrets and entries of servers that cannot be decrypted, and published APIs whose signatures do not match. */
async function findUnreadable({ db }: StoreEngine, masterKey: MasterKey): Promise<string[]> {
  const [now, problems]: [() => number, string[]] = [Date.now, []];
  const [secretsKey, serversKey] = [masterKey.derive("secrets"), masterKey.derive("servers")];
  for (const { name: tenant } of await new Tenants(db, now).list()) {
    const { unreadable } = await new DatabaseSecrets(db, { tenant, key: secretsKey, now }).list();
    if (unreadable > 0) problems.push(`nexus_secrets: ${unreadable} of tenant "${tenant}" cannot be decrypted`);
    const servers = await new TenantServers(db, { tenant, key: serversKey, now }).list();
    for (const id of servers.unreadable)
      problems.push(`nexus_servers: server "${id}" of tenant "${tenant}" cannot be decrypted`);
    problems.push(...(await new PublishedApis(db, { tenant, key: masterKey.derive("apis") }).findDamage()));
  }
  return problems;
}
