import { once } from "node:events";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { approvedFile, listOfTools } from "./contract-examples.ts";
import { RestWorld } from "./rest-world.ts";

let gateway: RestWorld;
let person: NexusWorld;
let key: string;
beforeAll(async () => {
  gateway = await RestWorld.open();
  person = await NexusWorld.open();
  key = await gateway.newKey("admin", "default", { allTenants: true });
});
afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

async function run(line: string, { env = { NEXUS_KEY: key }, stdin = "" } = {}) {
  const { code, stdout, stderr } = await person.run([...line.split(" "), "--gateway", gateway.origin, "--json"], {
    env,
    stdin,
  });
  const [out, error] = [stdout, stderr].map((text) => (text.startsWith("{") ? (JSON.parse(text) as object) : {}));
  return { code, out, error };
}

test("keys, tenants and sets are managed through a gateway as they are on a database", async () => {
  expect(await run("tenants create desk --rate 100/s")).toMatchObject({
    code: 0,
    out: { name: "desk", limits: { rate: "100/s" } },
  });
  const created = await run("keys create ci --tenant desk --allow everything --expires 90d --rate 10/s");
  expect(created).toMatchObject({ code: 0, out: { name: "ci", tenant: "desk", role: "caller" } });
  const { id } = created.out as { id: string };
  const limited = await run(`keys limit ${id} --rate none --concurrent 4`);
  expect(limited.out).toMatchObject({ id, limits: { concurrent: 4 } });
  expect(limited.out).not.toHaveProperty("limits.rate");
  expect((await run("keys list --tenant desk")).out).toMatchObject({ items: [{ id, allow: ["everything"] }] });
  expect((await run(`keys rotate ${id} --overlap 0s`)).out).toMatchObject({
    id,
    key: expect.stringMatching(/^nxs_/) as string,
  });
  expect((await run(`keys revoke ${id}`)).out).toMatchObject({ id, revoked: expect.any(String) as string });
  expect((await run("sets create help --tenant desk --allow everything")).out).toMatchObject({
    path: "/sets/help/mcp",
  });
  expect((await run("sets show help --tenant desk")).out).toMatchObject({ name: "help", allow: ["everything"] });
  expect((await run("sets list --tenant desk")).out).toMatchObject({ items: [{ name: "help" }] });
  expect((await run("sets remove help --tenant desk")).code).toBe(0);
  expect((await run("tenants remove desk --yes")).code).toBe(0);
  const { items } = (await run("tenants list")).out as { items: { name: string }[] };
  expect(items.map(({ name }) => name)).toEqual(["default", "shop"]);
});

test("a key comes from NEXUS_KEY or stdin, and failures have the exit codes of other commands", async () => {
  expect((await run("tenants list --key -", { env: {} as { NEXUS_KEY: string }, stdin: `${key}\n` })).code).toBe(0);
  expect((await run("tenants list", { env: {} as { NEXUS_KEY: string } })).code).toBe(8);
  expect(await run("tenants list", { env: { NEXUS_KEY: "nxs_wrong" } })).toMatchObject({
    code: 8,
    error: { error: { code: "AUTH_REQUIRED", hint: expect.stringContaining("NEXUS_KEY") as string } },
  });
  expect(await run("keys list", { env: { NEXUS_KEY: await gateway.newKey("operator") } })).toMatchObject({
    code: 8,
    error: { error: { hint: expect.stringContaining("nexus keys create NAME --role admin") as string } },
  });
  expect((await run("keys list --tenant none")).code).toBe(6);
  expect((await run("tenants create shop")).code).toBe(2);
  expect((await run("tenants list --database file:x.db")).code).toBe(2);
  const env = { NEXUS_KEY: key };
  expect((await person.run(["tenants", "list", "--gateway", "http://127.0.0.1:1"], { env })).code).toBe(4);
  expect((await person.run(["tenants", "list", "--gateway", "nowhere"], { env })).code).toBe(2);
});

test("hints name commands that act where the command did", async () => {
  const env = { NEXUS_KEY: key };
  const told = async (line: string) => {
    const { stdout, stderr } = await person.run([...line.split(" "), "--gateway", gateway.origin], { env });
    return stdout + stderr;
  };
  await run("tenants create empty");
  const there = `--tenant empty --gateway ${gateway.origin}`;
  expect(await told("keys list --tenant empty")).toContain(`nexus keys create NAME --allow PATTERN ${there}\n`);
  expect(await told("sets list --tenant empty")).toContain(`nexus sets create NAME --allow PATTERN ${there}\n`);
  expect(await told("keys create ci --tenant empty --allow set:later")).toContain(
    `nexus sets create later --allow PATTERN ${there}\n`,
  );
  expect(await run("tenants list", { env: { NEXUS_KEY: await gateway.newKey("admin") } })).toMatchObject({
    error: {
      error: {
        hint: expect.stringContaining(
          `makes one: nexus keys create NAME --role admin --all-tenants --gateway ${gateway.origin}`,
        ) as string,
      },
    },
  });
  expect((await run("tenants remove empty --yes")).code).toBe(0);
});

test.runIf(HAS_TERMINAL)(
  "--key - asks for the key at a terminal without showing it, and one Ctrl-C ends that",
  async () => {
    const ask = async (typed: string) => {
      const { child, output } = person.inTerminal(["tenants", "list", "--gateway", gateway.origin, "--key", "-"]);
      await expect.poll(() => output.stdout).toContain("Key of the gateway (not shown): ");
      child.stdin?.write(typed);
      const [code] = (await once(child, "close")) as [unknown];
      expect(output.stdout).not.toContain(key);
      return { code, shown: output.stdout };
    };
    const { code, shown } = await ask(`${key}\r`);
    expect(code).toBe(0);
    expect(shown).toContain("shop");
    expect((await ask("\u0003")).code).toBe(130);
  },
);

test("the audit is listed, shown, verified and exported through a gateway as it is on a database", async () => {
  const entry = (target: string, outcome: string) => {
    const record = { at: "2026-11-02T09:00:00.000Z", tenant: "shop", keyId: "k1", server: "s", target, outcome };
    return { at: Date.parse(record.at), text: JSON.stringify({ ...record, method: "tools/call" }) };
  };
  const entries = Array.from({ length: 600 }, (_, n) => entry(`t${n}`, n === 7 ? "refused" : "ok"));
  await gateway.store.audit.append("shop", entries);

  const newest = await run("audit list --tenant shop --limit 2");
  expect(newest).toMatchObject({ code: 0, out: { items: [{ target: "t599" }, { target: "t598" }], next: "599" } });
  expect((await run("audit list --tenant shop --limit 2 --cursor 599")).out).toMatchObject({
    items: [{ target: "t597" }, { target: "t596" }],
  });
  const { items, next } = (await run("audit list --tenant shop --limit 10000")).out as { items: object[]; next: null };
  expect([items.length, next]).toEqual([600, null]);
  expect((await run("audit list --tenant shop --key k1 --outcome refused --since 2026-11-01")).out).toMatchObject({
    items: [{ target: "t7" }],
  });
  expect((await run("audit list --tenant shop --key other")).code).toBe(6);
  expect(await run("audit show 8 --tenant shop")).toMatchObject({ code: 0, out: { seq: 8, target: "t7" } });
  expect((await run("audit show 9999 --tenant shop")).code).toBe(6);
  expect(await run("audit verify --tenant shop")).toMatchObject({
    code: 0,
    out: { ok: true, tenants: [{ tenant: "shop", records: 600, head: { seq: 600 }, damage: null }] },
  });
  const all = await run("audit verify");
  expect(all).toMatchObject({ code: 0, out: { tenants: [{ tenant: "default" }, { tenant: "shop" }] } });

  const env = { NEXUS_KEY: key };
  const args = ["audit", "export", "--tenant", "shop", "--gateway", gateway.origin];
  const exported = await person.run(args, { env });
  expect(exported.code).toBe(0);
  let stored = "";
  for await (const lines of gateway.store.audit.lines("shop")) stored += lines;
  expect(exported.stdout).toBe(stored);
});

test("the audit through a gateway is that of the key's own tenant, and damage has its exit code", async () => {
  const ofShop = { env: { NEXUS_KEY: await gateway.newKey("operator", "shop") } };
  expect((await run("audit list --limit 1", ofShop)).out).toMatchObject({ items: [{ tenant: "shop" }] });
  expect((await run("audit verify", ofShop)).out).toMatchObject({ tenants: [{ tenant: "shop" }] });
  expect((await run("audit list --tenant default", ofShop)).code).toBe(6);
  const ofCaller = { env: { NEXUS_KEY: await gateway.newKey("caller", "shop") } };
  expect((await run("audit list", ofCaller)).out).toEqual({ items: [], next: null });
  expect((await run("audit verify", ofCaller)).code).toBe(8);
  expect((await run("audit list", { env: {} as { NEXUS_KEY: string } })).code).toBe(8);
  expect((await run("audit list --database file:x.db")).code).toBe(2);
  expect((await run("audit export --tenant none")).code).toBe(6);

  await sql`update nexus_audit set records = replace(records, 'refused', 'ok')`.execute(gateway.store.engine.db);
  expect(await run("audit verify", ofShop)).toMatchObject({
    code: 10,
    out: { ok: false, tenants: [{ damage: { seq: 8 } }] },
  });
});

test("old records are removed through a gateway by an admin, which is recorded; changed ones only if that is said", async () => {
  const { name: tenant } = await gateway.store.tenants.create("old");
  const facts = { keyId: "k1", server: "s", target: "t", outcome: "ok" };
  const record = (at: string) => {
    return { ...facts, at: Date.parse(at), text: JSON.stringify({ at, tenant, ...facts, method: "tools/call" }) };
  };
  const times = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z"];
  await gateway.store.audit.append(tenant, times.map(record));
  const operator = { env: { NEXUS_KEY: await gateway.newKey("operator", tenant) } };
  expect((await run("audit prune --before 2026-01-02", operator)).code).toBe(8);
  const ofTenant = { env: { NEXUS_KEY: await gateway.newKey("admin", tenant) } };
  // A mistake would remove everything, the record of the removal included.
  for (const before of ["2999-01-01", new Date(Date.now() + 3_600_000).toISOString()]) {
    expect(await run(`audit prune --before ${before}`, ofTenant)).toMatchObject({
      code: 2,
      error: { error: { code: "ARGUMENTS_INVALID", message: expect.stringContaining("is not in the past") } },
    });
  }
  expect(await run("audit prune --before 2026-01-02", ofTenant)).toMatchObject({
    code: 0,
    out: { tenant, removed: 1 },
  });
  expect((await run("audit list", ofTenant)).out).toMatchObject({
    items: [
      { method: "rest/pruneAudit", target: "2026-01-02T00:00:00.000Z", outcome: "ok" },
      { method: "rest/pruneAudit", outcome: "error" },
      { method: "rest/pruneAudit", outcome: "error" },
      { method: "rest/pruneAudit", outcome: "refused" },
      { seq: 3 },
      { seq: 2 },
    ],
  });
  expect((await run("audit verify", ofTenant)).code).toBe(0);
  await sql`update nexus_audit set records = replace(records, '"seq":2,', '"seq":3,') where tenant = ${tenant}`.execute(
    gateway.store.engine.db,
  );
  expect(await run("audit prune --before 2026-01-03", ofTenant)).toMatchObject({
    code: 10,
    error: { error: { code: "DATA_DAMAGED" } },
  });
  expect((await run("audit prune --before 2026-01-03 --damaged", ofTenant)).out).toMatchObject({ removed: 1 });
  expect((await run("audit prune --before 90d --tenant none")).code).toBe(6);
});

test("a gateway explains what a key may use, with the servers and sets that it has", async () => {
  const grants = { allow: ["everything", "set:help"], deny: ["everything.get-env"], readOnly: false };
  const create = async (readOnly: boolean) =>
    (
      await gateway.store.keys.create({
        tenant: "shop",
        name: "asked",
        role: "caller",
        grants: { ...grants, readOnly },
      })
    ).about.id;
  const [id, reader] = [await create(false), await create(true)];
  const definition = JSON.stringify({ allow: ["everything.echo"] });
  await gateway.store.sets.put({ tenant: "shop", name: "help", definition });

  expect(await run(`keys explain ${id} everything.echo`)).toMatchObject({
    code: 0,
    out: { allowed: true, rule: "allow everything" },
  });
  expect(await run(`keys explain ${id} everything.get-env`)).toMatchObject({
    code: 8,
    out: { allowed: false, rule: "deny everything.get-env" },
  });
  expect(await run(`keys explain ${id} set:help`)).toMatchObject({ code: 0, out: { rule: "allow set:help" } });
  expect(await run(`keys explain ${id} everything.echo --set help`)).toMatchObject({ code: 0, out: { allowed: true } });
  expect((await run(`keys explain ${id} everything.other --set help`)).code).toBe(8);
  expect((await run(`keys explain ${reader} everything.no-such-tool`)).code).toBe(8);
  expect((await run(`keys explain ${id} everything`)).code).toBe(2);
  expect((await run(`keys explain ${id} set:help --set help`)).code).toBe(2);
  expect((await run(`keys explain ${id} none.echo`)).code).toBe(6);
  expect((await run(`keys explain ${id} set:none`)).code).toBe(6);
  expect((await run("keys explain nobody everything.echo")).code).toBe(6);
  const operator = { env: { NEXUS_KEY: await gateway.newKey("operator", "shop") } };
  expect((await run(`keys explain ${id} everything.echo`, operator)).code).toBe(8);
});

test("changed definitions are listed, shown and accepted through a gateway as they are on a database", async () => {
  const definitions = gateway.store.definitions("shop");
  await definitions.record(listOfTools("docs", { find: "one", read: "one", old: "one" }));
  await definitions.record(listOfTools("docs", { find: "two", read: "two", new: "one" }));

  const listed = await run("mcp changes list --server docs --tenant shop");
  expect(listed).toMatchObject({
    code: 0,
    out: {
      items: [
        { server: "docs", kind: "tool", name: "find", what: "changed" },
        { name: "new", what: "added" },
        { name: "old", what: "removed" },
        { name: "read", what: "changed" },
      ],
    },
  });
  const shown = await run("mcp changes show docs.find --tenant shop");
  expect(shown).toMatchObject({
    code: 0,
    out: {
      hash: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      items: [{ accepted: { description: "one" }, current: { description: "two" }, differences: [{ after: "two" }] }],
    },
  });
  const { hash } = shown.out as { hash: string };
  await definitions.record(listOfTools("docs", { find: "three", read: "two", new: "one" }));
  expect(await run(`mcp changes accept docs.find --tenant shop --hash ${hash}`)).toMatchObject({
    code: 8,
    error: { error: { code: "DEFINITION_CHANGED", hint: expect.stringContaining(gateway.origin) as string } },
  });
  const again = (await run("mcp changes show docs.find --tenant shop")).out as { hash: string };
  expect(again.hash).not.toBe(hash);
  expect(await run(`mcp changes accept docs.find --tenant shop --hash ${again.hash}`)).toMatchObject({
    code: 0,
    out: { accepted: [{ name: "find", what: "changed" }] },
  });
  expect((await run("mcp changes show docs.find --tenant shop")).out).toMatchObject({ hash: null, items: [] });
  expect((await run("mcp changes accept --server docs --tenant shop")).out).toMatchObject({
    accepted: [{ name: "new" }, { name: "old" }, { name: "read" }],
  });
  expect(await definitions.pending("docs")).toEqual([]);

  const ofShop = { env: { NEXUS_KEY: await gateway.newKey("operator", "shop") } };
  expect((await run("mcp changes list --server docs", ofShop)).out).toEqual({ items: [] });
  expect((await run("mcp changes accept --server docs", ofShop)).code).toBe(0);
  expect((await run("mcp changes show docs.none", ofShop)).code).toBe(6);
  expect((await run("mcp changes list --server none", ofShop)).code).toBe(6);
  expect((await run("mcp changes list --database file:x.db")).code).toBe(2);
  await definitions.record(listOfTools("docs", { find: "four", read: "two", new: "one" }));
  expect((await run("mcp changes accept --server docs", ofShop)).code).toBe(8);
});

test("changes that are accepted together through the REST API are accepted all or not at all", async () => {
  const definitions = gateway.store.definitions("shop");
  await definitions.record(listOfTools("pair", { a: "one", b: "one" }));
  await definitions.record(listOfTools("pair", { a: "two", b: "two" }));
  const changes = (await definitions.pending("pair")).map(({ id, hash }) => ({ id, hash }));
  await definitions.record(listOfTools("pair", { a: "two", b: "three" }));
  const answer = await gateway.call("POST", "/tenants/shop/changes/accept", { key, body: { changes } });
  expect(answer).toMatchObject({ status: 409, body: { code: "DEFINITION_CHANGED" } });
  expect(await definitions.pending("pair")).toMatchObject([{ name: "a" }, { name: "b" }]);
});

test("an API is published, rolled back and retired through a gateway, which compiles it itself", async () => {
  const { text } = approvedFile("desk");
  await person.write("home/work/project/api/desk/desk.nexus.yaml", text);
  expect((await person.run(["api", "approve", "desk", "--by", "Ada", "--yes"])).code).toBe(0);
  expect(await run("api publish desk --tenant shop --setting region=south")).toMatchObject({
    code: 0,
    out: {
      isNew: true,
      version: { version: "1.0.0", approval: { by: "Ada" }, publishedBy: expect.stringMatching(/^key /) as string },
      instance: { server: "desk", settings: { region: "south" }, origin: "local" },
    },
  });
  expect(await gateway.store.apis("shop").version("desk", "1.0.0")).toMatchObject({ origin: "network", text });
  await person.write("home/work/project/api/desk/desk.nexus.yaml", text.replace("maxItems: 3", "maxItems: 4"));
  expect((await person.run(["api", "approve", "desk", "--by", "Ada", "--yes"])).code).toBe(0);
  expect((await run("api publish desk --tenant shop")).out).toMatchObject({ version: { version: "1.1.0" } });
  expect((await run("api versions desk --tenant shop")).out).toMatchObject({
    items: [
      { version: "1.0.0", instances: [] },
      { version: "1.1.0", instances: ["live"] },
    ],
  });
  expect((await run("api rollback desk --tenant shop")).out).toMatchObject({ server: "desk", version: "1.0.0" });
  expect((await run("api versions desk --tenant shop --retire 1.1.0")).out).toMatchObject({ state: "retired" });
  expect((await run("api instances desk add test --upstream fake --tenant shop")).out).toMatchObject({
    server: "desk-test",
    upstream: "fake",
  });
  expect((await run("api instances desk set test --upstream http://10.0.0.1/ --tenant shop")).code).not.toBe(0);
  expect((await run("api instances desk remove test --tenant shop")).code).toBe(0);
  expect(await run("api rollback nothing --tenant shop")).toMatchObject({ code: 6 });
});
