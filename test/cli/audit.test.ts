import { createHash } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { addressOf, StoreWorld } from "../fixtures/store-world.ts";

const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;
const env = { NEXUS_MASTER_KEY: Buffer.alloc(32, 7).toString("hex") };

describe("nexus audit", () => {
  let nexus: NexusWorld;
  let stores: StoreWorld;
  let database: string;
  let store: Store;

  beforeAll(async () => {
    nexus = await NexusWorld.open();
    stores = await StoreWorld.open("sqlite");
  });
  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await nexus[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    database = await stores.newAddressText();
    store = await stores.openStore({ address: addressOf(database), masterKey: stores.keyIn("audit", env) });
    await store.audit.append("default", [
      record("k1", "ok", 2 * 86_400_000),
      record("k1", "ok"),
      record("k2", "error"),
    ]);
  });

  function record(keyId: string, outcome: string, agoMs = 1000) {
    const at = Date.now() - agoMs;
    const facts = { tenant: "default", keyId, server: "shop", method: "tools/call", target: "shop__buy", outcome };
    const text = JSON.stringify({ at: new Date(at).toISOString(), ...facts, durationMs: 3 });
    return { at, text };
  }

  const run = (...args: string[]) => nexus.run(["audit", ...args, "--database", database], { env });

  test("lists records newest first, in pages, by key, tool, outcome and time", async () => {
    const page = parsed((await run("list", "--limit", "2", "--json")).stdout);
    expect(page).toMatchObject({ items: [{ seq: 3, keyId: "k2", hash: expect.any(String) }, { seq: 2 }], next: "2" });
    const rest = parsed((await run("list", "--cursor", "2", "--json")).stdout);
    expect(rest).toMatchObject({ items: [{ seq: 1 }], next: null });
    const people = await run("list", "--since", "1h", "--key", "k1", "--tool", "shop.buy", "--outcome", "ok");
    expect(people.stdout).toMatch(/^2 {2}\S+Z {2}k1 {2}tools\/call {2}shop__buy {2}ok {2}3 ms\n$/);
    expect((await run("list", "--until", "1d", "--json")).stdout).toContain(`"seq":1,`);
  });

  test("a key that neither exists nor has records exits 6, and its id is named where a name was given", async () => {
    const grants = { allow: ["*"], deny: [], readOnly: false };
    const { about } = await store.keys.create({ tenant: "default", name: "agent", role: "caller", grants });
    const named = { code: 6, stdout: "", stderr: expect.stringContaining(`Use its id: ${about.id}`) };
    expect(await run("list", "--key", "agent")).toMatchObject(named);
    expect(await run("export", "--key", "agent")).toMatchObject(named);
    expect(await run("list", "--key", about.id)).toMatchObject({ code: 0, stdout: "" });
    expect(await run("list", "--key", "k1", "--since", "1s")).toMatchObject({ code: 0 });
    expect(await run("export", "--key", "k2")).toMatchObject({ code: 0, stdout: expect.stringContaining(`"seq":3,`) });
  });

  test("a record is shown in full, and an unknown one exits 6", async () => {
    expect(parsed((await run("show", "2", "--json")).stdout)).toMatchObject({ seq: 2, server: "shop" });
    expect((await run("show", "2")).stdout).toMatch(/^outcome +ok$/m);
    expect(await run("show", "9")).toMatchObject({ code: 6, stderr: expect.stringContaining("has no record 9") });
    const other = await run("show", "1", "--tenant", "shpo");
    expect(other).toMatchObject({ code: 6, stderr: expect.stringContaining(`There is no tenant "shpo"`) });
  });

  test("wrong times, limits, numbers and outcomes exit 2, and a whole key is not repeated", async () => {
    const wrong = [["list", "--since", "soon"], ["list", "--limit", "0"], ["show", "x"], ["prune"]];
    for (const args of wrong) expect(await run(...args)).toMatchObject({ code: 2 });
    const outcome = await run("export", "--outcome", "failed");
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(`--outcome "failed" is unknown`) });
    const whole = await run("list", "--key", "nxs_abc_def");
    expect(whole.code).toBe(2);
    expect(whole.stderr).not.toContain("nxs_abc_def");
  });

  test("records are not removed up to a time in the future (X7)", async () => {
    const pruned = await run("prune", "--before", "2999-01-01");
    expect(pruned).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("2999-01-01T00:00:00.000Z is not in the past"),
    });
    expect(await run("prune", "--before", "2999-01-01", "--damaged")).toMatchObject({ code: 2 });
    expect((await run("list", "--json")).stdout).toContain(`"seq":3`);
  });

  test("a changed record is named by verify and by store check, which exit 10", async () => {
    const right = await run("verify", "--json");
    expect(right.code).toBe(0);
    expect(parsed(right.stdout)).toMatchObject({ ok: true, tenants: [{ records: 3, head: { seq: 3 }, damage: null }] });
    await sql`update nexus_audit set records = replace(records, '"seq":2,"at":"20', '"seq":2,"at":"19')`.execute(
      store.engine.db,
    );
    const people = await run("verify");
    expect(people).toMatchObject({ code: 10, stdout: expect.stringContaining("record 2 was changed") });
    const damaged = await run("verify", "--json");
    expect(parsed(damaged.stdout)).toMatchObject({ ok: false, tenants: [{ damage: { seq: 2 } }] });
    const check = await nexus.run(["store", "check", "--database", database], { env });
    expect(check).toMatchObject({ code: 10, stdout: expect.stringContaining("record 2 was changed") });
    const pruned = await run("prune", "--before", "0s");
    expect(pruned).toMatchObject({ code: 10, stderr: expect.stringContaining("--damaged") });
  });

  test("a missing newest record is found", async () => {
    await store.audit.append("default", [record("k1", "ok")]);
    await sql`delete from nexus_audit where seq = 4`.execute(store.engine.db);
    expect(await run("verify")).toMatchObject({ code: 10, stdout: expect.stringContaining("record 4 is missing") });
  });

  test("an export is lines of JSON whose hashes can be verified without the store", async () => {
    const { stdout } = await run("export");
    let before = "";
    for (const line of stdout.trim().split("\n")) {
      const { hash } = parsed(line) as { hash: string };
      const text = line.replace(`,"hash":"${hash}"`, "");
      expect(hash).toBe(
        createHash("sha256")
          .update(before + text)
          .digest("hex"),
      );
      before = hash;
    }
    expect(parsed((await run("verify", "--json")).stdout)).toMatchObject({ tenants: [{ head: { hash: before } }] });
    expect((await run("export", "--since", "1d", "--json")).stdout.trim().split("\n")).toHaveLength(2);
  });

  test.each([
    [{ onFailure: "shut" }, '"gateway.audit.onFailure" must be open or closed, not "shut"'],
    [{ arguments: "some" }, '"gateway.audit.arguments" must be none, hashed, redacted or full, not "some"'],
    [{ retention: "long" }, '"gateway.audit.retention" is not a duration'],
    [{ onfailure: "open" }, 'Did you mean "onFailure"?'],
  ])("serve refuses the audit settings %j with exit code 3", async (audit, message) => {
    const config = await nexus.write("wrong.json", { mcpServers: {}, gateway: { audit } });
    const ran = await nexus.run(["serve", "--port", "0", "--config", config, "--database", database], { env });
    expect(ran).toMatchObject({ code: 3, stdout: "" });
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).toContain("wrong.json:");
  });

  test("pruned records are gone, and the rest is verified from a checkpoint", async () => {
    const pruned = await run("prune", "--before", "1d");
    expect(pruned).toMatchObject({ code: 0, stdout: `Removed 1 record of the tenant "default".\n` });
    expect(await run("verify")).toMatchObject({ code: 0, stdout: expect.stringContaining("3 records, from 2 on") });
    expect((await run("show", "1")).code).toBe(6);
  });
});
