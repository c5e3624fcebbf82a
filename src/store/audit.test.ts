import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { onBothEngines, type StoreWorld } from "../../test/fixtures/store-world.ts";
import { SILENT } from "../text/logger.ts";
import { checkAudit, checkAllAudits } from "./audit/audit-check.ts";
import { backUp, restore } from "./backup.ts";
import { checkStore } from "./check.ts";
import type { AuditEntry } from "./audit/audit-chain.ts";
import type { Store } from "./store.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

interface Facts {
  tenant?: string;
  keyId?: string | null;
  server?: string;
  target?: string | null;
  outcome?: string;
}

function entry(number: number, { tenant = "default", ...changes }: Facts = {}): AuditEntry {
  const at = START + number * 1000;
  const facts = { keyId: "k1", server: "shop", target: "shop__buy", outcome: "ok", ...changes };
  const record = { at: new Date(at).toISOString(), tenant, method: "tools/call", ...facts, durationMs: 1 };
  return { at, text: JSON.stringify(record) };
}

const entries = (count: number, from = 1, changes: Parameters<typeof entry>[1] = {}) =>
  Array.from({ length: count }, (_, index) => entry(from + index, changes));

async function filled(world: StoreWorld, count = 25): Promise<Store> {
  const store = await world.openStore();
  await store.audit.append("default", entries(count));
  return store;
}

const seqs = (records: readonly { seq: number }[]) => records.map(({ seq }) => seq);

/** The records of each row that is appended. */
const ROWS = [3, 1, 1, 1, 4];

/** Appends rows that have a known number of records: 1 to 3, 4, 5, 6, and 7 to 10. */
async function appendRows({ audit }: Store, tenant: string): Promise<void> {
  let from = 1;
  for (const count of ROWS) {
    await audit.append(tenant, entries(count, from, { tenant }));
    from += count;
  }
}

const ofHead = (set: string) => (tenant: string) => [`update nexus_audit_heads set ${set} where tenant = '${tenant}'`];
const ofRows = (change: string, where: string) => (tenant: string) => [
  `${change} where tenant = '${tenant}' and ${where}`,
];
const replaced = (from: string, to: string) => `update nexus_audit set records = replace(records, '${from}', '${to}')`;

/** What somebody does to the chain of a tenant, and the record that a check names. */
const DAMAGES: [damage: (tenant: string) => string[], seq: number][] = [
  [ofRows(replaced("shop", "bank"), "seq = 4"), 4],
  [ofRows(replaced(`00:00:08.000Z`, `00:00:09.000Z`), "seq = 7"), 8],
  [ofRows(replaced(`"hash":"`, `"hash":"x`), "seq = 5"), 5],
  [ofRows("update nexus_audit set records = substr(records, 1, 200)", "seq = 7"), 7],
  [ofRows("update nexus_audit set last_at = last_at - 1", "seq = 7"), 7],
  [ofRows("update nexus_audit set last_seq = 9", "seq = 7"), 7],
  [ofRows("delete from nexus_audit", "seq = 5"), 5],
  [ofRows("delete from nexus_audit", "seq = 1"), 1],
  [ofRows("delete from nexus_audit", "seq = 7"), 7],
  [ofRows("delete from nexus_audit", "seq > 4"), 5],
  [ofRows("delete from nexus_audit", "seq > 0"), 1],
  [ofHead("seq = 9"), 9],
  [ofHead("hash = 'x'"), 10],
  [
    (tenant) =>
      [
        [5, 99],
        [6, 5],
        [99, 6],
      ].map(([from, to]) => `update nexus_audit set seq = ${to} where tenant = '${tenant}' and seq = ${from}`),
    5,
  ],
  [
    (tenant) => [
      `insert into nexus_audit select tenant, 2, last_seq, at, last_at, records from nexus_audit where tenant = '${tenant}' and seq = 6`,
    ],
    2,
  ],
  [(tenant) => [`delete from nexus_audit_heads where tenant = '${tenant}'`], 1],
];

const tenantOf = (index: number) => `t${String.fromCharCode(97 + index)}`;

onBothEngines("the audit", (world) => {
  test("records form one chain, which a check confirms", async () => {
    const store = await filled(world(), 113);
    const head = await store.audit.append("default", [entry(200)]);
    expect(head.seq).toBe(114);
    expect(await checkAudit(store.audit, "default")).toMatchObject({ records: 114, first: 1, head, damage: undefined });
    expect(await store.audit.find("default", 113)).toMatchObject({ seq: 113, server: "shop", keyId: "k1" });
    expect(await store.audit.find("default", 115)).toBeUndefined();
    expect(await store.audit.wasAppended("default", entry(113))).toBe(true);
    expect(await store.audit.wasAppended("default", entry(114))).toBe(false);
  });

  test("several processes append to one chain at the same time, also to the first record of many tenants", async () => {
    const address = await world().newAddress();
    const stores = [];
    for (let index = 0; index < 4; index++) stores.push(await world().openStore({ address }));
    const appends = stores.flatMap((store, index) =>
      ["default", "a", "b"].map(async (tenant) => {
        for (let batch = 0; batch < 5; batch++) await store.audit.append(tenant, entries(7, index * 100, { tenant }));
      }),
    );
    await Promise.all(appends);
    const [{ audit } = await world().openStore()] = stores;
    const { checks, isComplete } = await checkAllAudits(audit);
    expect(isComplete).toBe(true);
    expect(checks.map(({ tenant, records, damage }) => [tenant, records, damage])).toEqual(
      ["a", "b", "default"].map((tenant) => [tenant, 140, undefined]),
    );
  });

  test("lists are newest first, in pages, and select by time, key, server, tool and outcome", async () => {
    const store = await filled(world(), 5);
    await store.audit.append("default", [
      entry(6, { keyId: "k2", server: "bank", target: "pay", outcome: "error" }),
      entry(7, { keyId: null, server: "", target: null, outcome: "refused" }),
      entry(8, { target: "a_b%c\0\ud800" }),
    ]);
    const list = async (filter: object, limit = 50) =>
      seqs((await store.audit.list("default", filter, { limit })).items);
    const page = await store.audit.list("default", {}, { limit: 3 });
    expect(seqs(page.items)).toEqual([8, 7, 6]);
    const rest = await store.audit.list("default", {}, { limit: 5, cursor: page.next });
    expect([seqs(rest.items), rest.next]).toEqual([[5, 4, 3, 2, 1], undefined]);
    expect(await list({ keyId: "k2" })).toEqual([6]);
    expect(await list({ server: "shop" }, 2)).toEqual([8, 5]);
    expect(await list({ outcome: "refused" })).toEqual([7]);
    expect(await list({ tool: "buy" }, 1)).toEqual([5]);
    expect(await list({ tool: "shop.buy", since: START + 2000, until: START + 4000 })).toEqual([3, 2]);
    expect(await list({ tool: "bank.pay" })).toEqual([6]);
    expect(await list({ tool: "bank.buy" })).toEqual([]);
    expect(await list({ tool: "%" })).toEqual([]);
    let lines = "";
    for await (const text of store.audit.lines("default", { server: "shop" })) lines += text;
    const read = lines.trim().split("\n");
    expect(seqs(read.map((line) => JSON.parse(line) as { seq: number }))).toEqual([1, 2, 3, 4, 5, 8]);
    expect((await checkAudit(store.audit, "default")).damage).toBeUndefined();
    await expect(store.audit.list("default", {}, { limit: 1, cursor: "x" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
    });
  });

  test("usage counts the records of a time by key, server and outcome; one about several events counts as several", async () => {
    const store = await filled(world(), 2100);
    const several = entry(2101, { keyId: "k2", server: "", target: null, outcome: "refused" });
    const text = JSON.stringify({ ...(JSON.parse(several.text) as object), count: 40 });
    await store.audit.append("default", [{ ...several, text }, entry(2102, { keyId: null, outcome: "error" })]);
    await store.audit.append("other", [entry(1, { tenant: "other" })]);
    const usage = async (from: number, keyId?: string) => {
      const found = await store.audit.usage("default", { since: START + from * 1000, until: START + 9_000_000, keyId });
      return new Set(found.map((each) => `${each.keyId} ${each.server} ${each.outcome} ${each.count}`));
    };
    const others = ["null shop error 1", "k2  refused 40"];
    expect(await usage(1)).toEqual(new Set([...others, "k1 shop ok 2100"]));
    expect(await usage(2099)).toEqual(new Set([...others, "k1 shop ok 2"]));
    expect(await usage(1, "k2")).toEqual(new Set(["k2  refused 40"]));
  });

  test("what was changed, removed or re-ordered is found: a check names the first wrong record", async () => {
    const address = await world().newAddress();
    const store = await world().openStore({ address });
    const { db } = store.engine;
    for (const [index, [damage, seq]] of DAMAGES.entries()) {
      const tenant = tenantOf(index);
      await appendRows(store, tenant);
      for (const statement of damage(tenant)) await sql.raw(statement).execute(db);
      expect([index, (await checkAudit(store.audit, tenant)).damage?.seq]).toEqual([index, seq]);
    }
    const check = await checkStore({ address, masterKey: world().masterKey, logger: SILENT });
    const named = DAMAGES.map(
      ([, seq], index) => expect.stringMatching(`tenant "${tenantOf(index)}": .*record ${seq}\\b`) as string,
    );
    expect(check).toMatchObject({ damage: [...named, expect.stringContaining("head is missing")] });
  });

  test("a head that was set back with its newest record is not signed again by the next record", async () => {
    const store = await filled(world());
    const { db } = store.engine;
    await store.audit.append("default", [entry(26)]);
    await sql`delete from nexus_audit where seq = 26`.execute(db);
    const before = await store.audit.find("default", 25);
    await sql`update nexus_audit_heads set seq = 25, hash = ${before?.hash} where tenant = 'default'`.execute(db);
    await store.audit.append("default", [entry(30)]);
    await store.audit.append("default", [entry(31)]);
    expect((await checkAudit(store.audit, "default")).damage).toMatchObject({ seq: 26 });
  });

  test("a chain that is removed as a whole is found, also after a new one was begun", async () => {
    const store = await filled(world());
    const { db } = store.engine;
    await store.audit.append("other", entries(3, 1, { tenant: "other" }));
    for (const table of ["nexus_audit", "nexus_audit_heads"])
      await sql`delete from ${sql.table(table)} where tenant = 'default'`.execute(db);
    expect(await checkAllAudits(store.audit)).toMatchObject({
      isComplete: false,
      checks: [
        { tenant: "other", damage: undefined },
        { tenant: "default", records: 0, damage: { seq: 1 } },
      ],
    });
    await store.audit.append("default", entries(2));
    expect((await checkAllAudits(store.audit)).isComplete).toBe(false);
  });

  test("pruning leaves a signed checkpoint, from which the chain is verified", async () => {
    const store = await filled(world());
    expect(await store.audit.prune("default", START + 11_000)).toBe(10);
    expect(await store.audit.prune("default", START + 11_000)).toBe(0);
    expect(await checkAudit(store.audit, "default")).toMatchObject({ records: 15, first: 11, damage: undefined });
    expect(await store.audit.prune("default", START + 100_000)).toBe(15);
    expect(await checkAudit(store.audit, "default")).toMatchObject({ records: 0, first: 26, damage: undefined });
    await store.audit.append("default", [entry(50)]);
    expect(await checkAudit(store.audit, "default")).toMatchObject({
      records: 1,
      head: { seq: 26 },
      damage: undefined,
    });
    await sql`update nexus_audit_checkpoints set seq = 24`.execute(store.engine.db);
    expect((await checkAudit(store.audit, "default")).damage).toMatchObject({ seq: 24 });
  });

  test("records that were changed are removed only by force, so that no trace is lost", async () => {
    const store = await filled(world());
    await sql`update nexus_audit set records = replace(records, '00:00:03.000Z', '00:00:04.000Z')`.execute(
      store.engine.db,
    );
    await expect(store.audit.prune("default", START + 11_000)).rejects.toMatchObject({ code: "DATA_DAMAGED" });
    expect(await store.audit.prune("default", START + 11_000, { force: true })).toBe(10);
    expect((await checkAudit(store.audit, "default")).damage).toBeUndefined();
  });

  test("records of a store that had one row for each are kept with their chain", async () => {
    const address = await world().newAddress();
    const before = await world().openStore({ address });
    await before.audit.append("default", entries(40));
    let lines = "";
    for await (const text of before.audit.lines("default")) lines += text;
    const { db } = before.engine;
    await db.deleteFrom("nexus_migrations").where("version", ">=", 5).execute();
    for (const table of ["nexus_api_versions", "nexus_api_instances", "nexus_api_usage"])
      await db.schema.dropTable(table).execute();
    await sql`drop table nexus_audit`.execute(db);
    await sql`create table nexus_audit (tenant text, seq bigint, at bigint, record text, hash text)`.execute(db);
    for (const line of lines.trim().split("\n")) {
      const { seq, at, hash } = JSON.parse(line) as { seq: number; at: string; hash: string };
      const record = line.replace(`,"hash":"${hash}"`, "");
      await sql`insert into nexus_audit values ('default', ${seq}, ${Date.parse(at)}, ${record}, ${hash})`.execute(db);
    }
    await before.close();

    const { audit, migrated } = await world().openStore({ address });
    expect(migrated).toMatchObject({ from: 4 });
    let migratedLines = "";
    for await (const text of audit.lines("default")) migratedLines += text;
    expect(migratedLines).toBe(lines);
    await audit.append("default", entries(3, 41));
    expect(await checkAudit(audit, "default")).toMatchObject({ records: 43, damage: undefined });
    expect(seqs((await audit.list("default", { since: START + 39_000 }, { limit: 9 })).items)).toEqual([
      43, 42, 41, 40, 39,
    ]);
  });

  test("a backup contains the audit with its chain, which goes on after it was restored", async () => {
    const store = await filled(world(), 1200);
    await store.audit.append("other", entries(3, 1, { tenant: "other" }));
    await store.audit.prune("default", START + 11_000);
    const file = join(world().folder, "audit.backup");
    await backUp(store, file);
    const other = await world().newAddress(world().kind === "sqlite" ? "sqlite" : "postgres");
    await restore({ file, address: other, masterKey: world().masterKey, logger: SILENT, replace: false });
    const restored = await world().openStore({ address: other });
    await restored.audit.append("default", [entry(2000)]);
    expect(await checkAllAudits(restored.audit)).toMatchObject({
      isComplete: true,
      checks: [
        { tenant: "default", records: 1191, damage: undefined },
        { tenant: "other", records: 3, damage: undefined },
      ],
    });
  });
});
