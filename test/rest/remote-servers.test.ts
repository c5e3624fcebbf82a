import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";
import { RestWorld } from "./rest-world.ts";

let gateway: RestWorld;
let person: NexusWorld;
let keys: { shop: string; own: string; operator: string };
beforeAll(async () => {
  gateway = await RestWorld.open();
  person = await NexusWorld.open();
  keys = {
    shop: await gateway.newKey("admin", "shop"),
    own: await gateway.newKey("admin"),
    operator: await gateway.newKey("operator"),
  };
});
afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

async function run(line: string, key: string) {
  const args = [...line.split(" "), "--gateway", gateway.origin, "--json"];
  const { code, stdout, stderr } = await person.run(args, { env: { NEXUS_KEY: key } });
  const [out, error] = [stdout, stderr].map((text) => (text.startsWith("{") ? (JSON.parse(text) as object) : {}));
  return { code, out, error };
}

test("servers at a URL are added, listed, replaced, switched and removed through a gateway", async () => {
  const added = await run("mcp add docs --url https://docs.example/mcp --pin --no-check", keys.shop);
  expect(added).toMatchObject({ code: 0, out: { server: "docs", tenant: "shop", enabled: true } });
  expect((await run("mcp servers", keys.shop)).out).toMatchObject({
    servers: [{ id: "docs", source: "network", url: "https://docs.example/mcp", pinned: true }],
  });
  expect((await run("mcp add docs --url https://other.example/mcp --no-check", keys.shop)).code).toBe(2);
  const replaced = await run("mcp add docs --url https://other.example/mcp --disabled --force", keys.shop);
  expect(replaced).toMatchObject({ code: 0, out: { enabled: false } });
  expect((await run("mcp enable docs", keys.shop)).out).toMatchObject({ server: "docs", enabled: true, changed: true });
  expect((await run("mcp enable docs", keys.shop)).out).toMatchObject({ changed: false });
  expect((await run("mcp disable docs", keys.shop)).out).toMatchObject({ enabled: false, changed: true });
  expect((await gateway.store.servers("shop").find("docs"))?.entry).toMatchObject({ url: "https://other.example/mcp" });
  expect((await run("mcp remove docs", keys.shop)).out).toEqual({ server: "docs", tenant: "shop" });
  expect((await run("mcp remove docs", keys.shop)).code).toBe(6);
  expect((await run("mcp servers", keys.shop)).out).toEqual({ servers: [], errors: [] });
});

test("a gateway takes no command, no tool file and no internal address, and no server for its configuration files", async () => {
  const add = (rest: string, key = keys.shop) => run(`mcp add x --no-check ${rest}`, key);
  expect((await add("--stdio true")).code).toBe(2);
  expect((await add("--url http://127.0.0.1:9/mcp")).code).toBe(8);
  expect((await add("--url https://docs.example/mcp --project")).code).toBe(2);
  expect((await add("--url https://docs.example/mcp", keys.own)).code).toBe(8);
  expect((await add("--url https://docs.example/mcp", keys.operator)).code).toBe(8);
  expect((await run("mcp remove everything", keys.own)).code).toBe(8);
  expect((await run("mcp servers --config x.json", keys.own)).code).toBe(2);
  expect((await run("mcp servers --tenant shop", keys.own)).code).toBe(6);
  expect((await person.run(["mcp", "servers", "--key", "-"])).code).toBe(2);
});

test("the servers of the configuration of a gateway are tried again, switched for a while, and their logs read", async () => {
  await mkdir(join(gateway.folder, "logs"), { recursive: true });
  await writeFile(join(gateway.folder, "logs", "everything.log"), "first\nsecond\n");
  expect((await run("mcp logs everything --lines 1", keys.operator)).out).toEqual({
    server: "everything",
    lines: ["second"],
    times: [null],
  });
  expect((await run("mcp logs none", keys.operator)).code).toBe(6);
  expect((await run("mcp logs everything --follow", keys.operator)).code).toBe(2);
  expect(await run("mcp retry everything", keys.own)).toMatchObject({
    code: 0,
    out: { items: [{ server: "everything", state: "ready", protocolVersion: "2026-07-28" }], errors: [] },
  });
  expect((await run("mcp retry", keys.own)).out).toEqual({ items: [], errors: [] });
  expect((await run("mcp retry everything", keys.operator)).code).toBe(8);
  const args = ["mcp", "disable", "everything", "--gateway", gateway.origin];
  const disabled = await person.run(args, { env: { NEXUS_KEY: keys.own } });
  expect(disabled.stderr).toContain("until the gateway restarts");
  const listed = await person.run(["mcp", "servers", "--gateway", gateway.origin], { env: { NEXUS_KEY: keys.own } });
  expect(listed.stdout).toMatch(/everything\s+disabled/);
});
