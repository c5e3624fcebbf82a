import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";
import { RestWorld } from "./rest-world.ts";

let gateway: RestWorld;
let person: NexusWorld;
let key: string;
beforeAll(async () => {
  gateway = await RestWorld.open();
  person = await NexusWorld.open();
  key = await gateway.newKey("admin", "shop");
});
afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const VALUE = "value-of-the-test-that-stays-inside";

async function run(line: string, { stdin = "", env = { NEXUS_KEY: key } } = {}) {
  const { code, stdout, stderr } = await person.run([...line.split(" "), "--gateway", gateway.origin, "--json"], {
    env,
    stdin,
  });
  expect(stdout + stderr).not.toContain(VALUE);
  const out = (stdout === "" ? {} : JSON.parse(stdout)) as object;
  return { code, out };
}

test("secrets go into a gateway with --gateway, and only their names and origins come out", async () => {
  expect(await run("secrets set docs", { stdin: `${VALUE}\n` })).toEqual({
    code: 0,
    out: { name: "docs", origins: [] },
  });
  expect(await gateway.store.secrets("shop").get("docs")).toEqual({ value: VALUE, origins: undefined });
  await gateway.store.secrets("shop").bind("docs", "https://docs.example");
  expect((await run("secrets set docs", { stdin: `${VALUE}2` })).out).toEqual({
    name: "docs",
    origins: ["https://docs.example"],
  });
  expect((await run("secrets list")).out).toEqual({
    items: [{ name: "docs", origins: ["https://docs.example"] }],
    errors: [],
  });
  expect((await run("secrets remove docs")).code).toBe(0);
  expect((await run("secrets remove docs")).code).toBe(6);
  expect(await gateway.store.secrets("shop").list()).toEqual({ secrets: [], unreadable: 0 });

  expect((await run("secrets list --tenant default")).code).toBe(6);
  expect((await run("secrets list --database file:x.db")).code).toBe(2);
  const operator = { env: { NEXUS_KEY: await gateway.newKey("operator", "shop") }, stdin: VALUE };
  expect((await run("secrets list", operator)).code).toBe(8);
  expect((await run("secrets set docs", operator)).code).toBe(8);
  const { items } = await gateway.store.audit.list("shop", {}, { limit: 100 });
  expect(items).toMatchObject([
    { method: "rest/setSecret", target: "docs", outcome: "refused" },
    { method: "rest/removeSecret", outcome: "refused" },
    { method: "rest/removeSecret", outcome: "ok" },
    { method: "rest/setSecret" },
    { method: "rest/setSecret", target: "docs", outcome: "ok" },
  ]);
  expect(JSON.stringify(items)).not.toContain(VALUE);
});

test("the REST API refuses secrets that are not valid without repeating their values, and adds no origin to a stored one", async () => {
  const put = (name: string, body: unknown) => gateway.call("PUT", `/tenants/shop/secrets/${name}`, { key, body });
  for (const [name, body] of [
    ["a%20b", { value: VALUE }],
    ["docs", { value: [VALUE] }],
    ["docs", { value: "" }],
    ["docs", { value: VALUE, origins: ["docs.example"] }],
    ["docs", { value: VALUE, origins: ["https://docs.example/path"] }],
    ["docs", { value: VALUE, origins: [] }],
  ] as const) {
    const { status, text } = await put(name, body);
    expect({ status, text }).toMatchObject({ status: 400 });
    expect(text).not.toContain(VALUE);
  }
  expect(await put("docs", { value: VALUE, origins: ["https://docs.example"] })).toMatchObject({
    status: 200,
    body: { name: "docs", tenant: "shop", origins: ["https://docs.example"] },
  });
  const again = await put("docs", { value: VALUE, origins: ["https://other.example"] });
  expect(again.body["origins"]).toEqual(["https://docs.example"]);
  expect(again.text).not.toContain(VALUE);
});
