import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { onBothEngines, StoreWorld } from "../../test/fixtures/store-world.ts";
import { SILENT } from "../text/logger.ts";
import { checkAllAudits, checkAudit } from "./audit/audit-check.ts";
import { backUp, restore } from "./backup.ts";
import { checkStore } from "./check.ts";
import type { DatabaseAddress } from "./engine/database-address.ts";
import type { Store } from "./store.ts";

const entry = (target: string) => {
  const at = Date.now();
  return { at, text: JSON.stringify({ at: new Date(at).toISOString(), tenant: "default", target, outcome: "ok" }) };
};
const append = (store: Store, ...targets: string[]) => store.audit.append("default", targets.map(entry));

const TABLES = ["nexus_audit", "nexus_audit_heads"] as const;

/** What an attacker does who can write the database and has no master key: takes a copy, and puts it back. */
async function copyAudit({ engine: { db } }: Store): Promise<(into: Store) => Promise<void>> {
  const copies = await Promise.all(TABLES.map((table) => db.selectFrom(table).selectAll().execute()));
  return async (into) => {
    for (const [index, table] of TABLES.entries()) {
      await into.engine.db.deleteFrom(table).execute();
      for (const row of copies[index] ?? []) await into.engine.db.insertInto(table).values(row).execute();
    }
  };
}

onBothEngines("an older state of the audit that is put back", (world) => {
  const reopened = (address: DatabaseAddress) => world().openStore({ address });

  test("is found by another process, and stays so when further records follow (X7)", async () => {
    const address = await world().newAddress();
    const first = await reopened(address);
    await append(first, "a", "b");
    const putBack = await copyAudit(first);
    await append(first, "c", "d");
    await first.close();

    const second = await reopened(address);
    expect((await checkAudit(second.audit, "default")).damage).toBeUndefined();
    await putBack(second);
    const problem = /^the audit ends at record 2, and record 4 was there on .*: an older state was put back$/;
    expect(await checkAudit(second.audit, "default")).toMatchObject({
      head: { seq: 2 },
      damage: { seq: 3, problem: expect.stringMatching(problem) },
    });
    await second.close();

    const third = await reopened(address);
    await append(third, "x", "y", "z");
    const damage = { seq: 4, problem: expect.stringContaining("record 4 was there") };
    expect(await checkAudit(third.audit, "default")).toMatchObject({ head: { seq: 5 }, damage });
    await third.close();
    const fourth = await reopened(address);
    expect((await checkAllAudits(fourth.audit)).checks).toMatchObject([{ tenant: "default", damage }]);
    const checked = await checkStore({ address, masterKey: world().masterKey, logger: SILENT });
    expect(checked).toMatchObject({ damage: [expect.stringContaining("record 4 was there")] });
  });

  test("is found by the process that wrote it, also where nothing was written down before (X7)", async () => {
    const store = await world().openStore();
    await append(store, "a");
    const putBack = await copyAudit(store);
    await append(store, "b", "c");
    await putBack(store);
    await append(store, "d");
    expect((await checkAudit(store.audit, "default")).damage).toMatchObject({ seq: 3 });
  });

  test("is found where everything was removed, the audit of a tenant included (X7)", async () => {
    const address = await world().newAddress();
    const first = await reopened(address);
    await append(first, "a");
    await first.close();
    const second = await reopened(address);
    for (const table of TABLES) await second.engine.db.deleteFrom(table).execute();
    expect((await checkAllAudits(second.audit)).checks).toMatchObject([{ tenant: "default", damage: { seq: 1 } }]);
  });

  test("is no damage any more when a backup was restored on purpose, and later ones are found again", async () => {
    const address = await world().newAddress();
    const file = join(world().folder, "old.backup");
    const first = await reopened(address);
    await append(first, "a");
    await backUp(first, file);
    await append(first, "b", "c");
    const putBack = await copyAudit(first);
    const gateway = await reopened(address);
    await append(gateway, "d");
    await first.close();
    const { masterKey } = world();
    await restore({ file, address, masterKey, logger: SILENT, replace: true });

    // A gateway that runs meanwhile has seen more, and hears of it.
    await append(gateway, "e");
    expect(await checkAudit(gateway.audit, "default")).toMatchObject({
      head: { seq: 2 },
      damage: undefined,
      lost: { until: 4, why: "restored" },
    });
    await gateway.close();
    const second = await reopened(address);
    await append(second, "f");
    expect(await checkAudit(second.audit, "default")).toMatchObject({ head: { seq: 3 }, damage: undefined });
    await second.close();
    const third = await reopened(address);
    await putBack(third);
    expect((await checkAudit(third.audit, "default")).damage).toMatchObject({ seq: 3 });
    // Somebody who knows that says so, and it is kept.
    await third.audit.acceptLoss();
    expect(await checkAudit(third.audit, "default")).toMatchObject({ damage: undefined, lost: { why: "accepted" } });
    await third.close();
    const fourth = await reopened(address);
    expect((await checkAudit(fourth.audit, "default")).damage).toBeUndefined();
    await sql`delete from nexus_facts where name = 'audit-losses'`.execute(fourth.engine.db);
    expect((await checkAudit(fourth.audit, "default")).damage).toMatchObject({
      problem: expect.stringContaining("does not know any more"),
    });
  });

  test("is no damage where backups without records were restored one after the other", async () => {
    const address = await world().newAddress();
    const file = join(world().folder, "empty.backup");
    const first = await reopened(address);
    await backUp(first, file);
    await append(first, "a");
    await first.close();
    const { masterKey } = world();
    for (let times = 0; times < 2; times++) {
      await restore({ file, address, masterKey, logger: SILENT, replace: true });
      const second = await reopened(address);
      expect((await checkAllAudits(second.audit)).checks).toMatchObject([]);
      expect(await checkAudit(second.audit, "default")).toMatchObject({ damage: undefined, lost: { until: 1 } });
      await second.close();
    }
  });

  test("is not reported where records were removed when their retention ended", async () => {
    const address = await world().newAddress();
    const first = await reopened(address);
    await append(first, "a", "b");
    await first.close();
    const second = await reopened(address);
    expect(await second.audit.prune("default", Date.now())).toBeLessThanOrEqual(2);
    await append(second, "c");
    expect((await checkAudit(second.audit, "default")).damage).toBeUndefined();
  });
});

test("what this machine has seen is signed, and readable by its owner only", async () => {
  await using world = await StoreWorld.open("sqlite");
  const address = await world.newAddress();
  const first = await world.openStore({ address });
  await append(first, "a");
  await first.close();
  const folder = join(world.folder, "state", "audit-seen");
  const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith(".json"));
  const file = join(folder, name);
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(`"seq":1`, `"seq":0`));
  const second = await world.openStore({ address });
  expect((await checkAudit(second.audit, "default")).damage?.problem).toBe(
    `${file}, which says what this machine has seen of the audit, was changed`,
  );
  await second.audit.acceptLoss();
  expect((await checkAudit(second.audit, "default")).damage).toBeUndefined();
  await second.close();
  expect(existsSync(file)).toBe(true);
});

test("a whole copy of the file that is put back is found by the next process (X7)", async () => {
  await using world = await StoreWorld.open("sqlite");
  const address = await world.newAddress();
  if (address.kind !== "sqlite") throw new Error("it is a file");
  const first = await world.openStore({ address });
  await append(first, "a");
  await first.close();
  await cp(address.file, `${address.file}.copy`);
  const second = await world.openStore({ address });
  await append(second, "b");
  await second.close();
  for (const ending of ["-wal", "-shm"]) await rm(`${address.file}${ending}`, { force: true });
  await cp(`${address.file}.copy`, address.file);
  const third = await world.openStore({ address });
  expect((await checkAudit(third.audit, "default")).damage).toMatchObject({ seq: 2 });
});

test("a backup that is restored for a lost file is no damage, also where the folder of the file is a link", async () => {
  await using world = await StoreWorld.open("sqlite");
  const [data, link] = [join(world.folder, "data"), join(world.folder, "link")];
  await mkdir(data);
  await symlink(data, link, "junction");
  const address = { ...(await world.newAddress()), file: join(link, "store.db") };
  const backup = join(world.folder, "old.backup");
  const first = await world.openStore({ address });
  await append(first, "a");
  await backUp(first, backup);
  await append(first, "b", "c");
  await first.close();
  await rm(data, { recursive: true });
  await mkdir(data);
  await restore({ file: backup, address, masterKey: world.masterKey, logger: SILENT, replace: false });
  const second = await world.openStore({ address });
  expect(await checkAudit(second.audit, "default")).toMatchObject({ head: { seq: 1 }, damage: undefined });
});
