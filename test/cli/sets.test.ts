import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { StoreWorld } from "../fixtures/store-world.ts";

const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe("nexus sets", () => {
  let nexus: NexusWorld;
  let stores: StoreWorld;
  let database: string;

  beforeAll(async () => {
    nexus = await NexusWorld.open();
    stores = await StoreWorld.open("sqlite");
  });
  afterAll(async () => {
    await nexus[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    database = await stores.newAddressText();
  });

  const run = (...args: string[]) => nexus.run([...args, "--database", database]);

  test("a set is created from options, shown, listed, replaced and removed", async () => {
    const content = ["--allow", "hub.search*", "--allow", "hub.issue", "--deny", "hub.search_all", "--pin"];
    const words = ["--description", "For the desk", "--describe", "hub.issue=Reports a problem"];
    const changes = [
      "--rename",
      "hub.issue=report",
      "--fix",
      "hub.issue.repo=acme/desk",
      "--fix",
      "hub.issue.labels=[1]",
    ];
    const created = await run("sets", "create", "support", ...content, ...words, ...changes);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining("/sets/support/mcp") as string });
    expect(created.stdout).toMatch(/^Created the set/);
    const shown = parsed((await run("sets", "show", "support", "--json")).stdout);
    expect(shown).toMatchObject({
      name: "support",
      tenant: "default",
      path: "/sets/support/mcp",
      description: "For the desk",
      allow: ["hub.search*", "hub.issue"],
      deny: ["hub.search_all"],
      readOnly: false,
      pin: true,
      tools: {
        "hub.issue": {
          name: "report",
          description: "Reports a problem",
          arguments: { repo: "acme/desk", labels: [1] },
        },
      },
      prompts: {},
    });
    const text = (await run("sets", "show", "support")).stdout;
    expect(text).toContain(`is called report; always with repo="acme/desk", labels=[1]`);
    expect((await run("sets", "list")).stdout).toBe(
      "support  default  hub.search*, hub.issue, not hub.search_all, pinned\n",
    );
    const again = await run("sets", "create", "support", "--allow", "hub");
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("nexus sets edit support") as string });
    const replaced = await run("sets", "create", "support", "--allow", "hub", "--read-only", "--replace", "--json");
    expect(parsed(replaced.stdout)).toMatchObject({ allow: ["hub"], readOnly: true, pin: false, tools: {} });
    expect((await run("sets", "create", "support", "--allow", "hub", "--replace")).stdout).toMatch(/^Replaced the set/);
    const near = await run("sets", "show", "suport");
    expect(near).toMatchObject({ code: 6, stderr: expect.stringContaining(`Did you mean "support"?`) as string });
    expect(parsed((await run("sets", "remove", "support", "--json")).stdout)).toEqual({
      name: "support",
      tenant: "default",
      removed: true,
    });
    expect((await run("sets", "remove", "support")).code).toBe(6);
    expect(parsed((await run("sets", "list", "--json")).stdout)).toEqual({ items: [] });
    expect((await run("sets", "list", "--tenant", "shop")).code).toBe(6);
  });

  test("a file has the whole definition, and options add to it", async () => {
    const file = join(stores.folder, "set.json");
    await writeFile(
      file,
      JSON.stringify({
        allow: ["hub"],
        prompts: { "hub.greet": { name: "hello" } },
        tools: { "hub.a": { name: "a" } },
      }),
    );
    const { stdout } = await run(
      "sets",
      "create",
      "s",
      "--file",
      file,
      "--allow",
      "box",
      "--fix",
      "hub.a.n=1",
      "--json",
    );
    expect(parsed(stdout)).toMatchObject({
      allow: ["hub", "box"],
      tools: { "hub.a": { name: "a", arguments: { n: 1 } } },
      prompts: { "hub.greet": { name: "hello" } },
    });
    expect((await run("sets", "create", "t", "--file", `${file}.missing`)).code).toBe(2);
  });

  test.each<[string, string[]]>([
    ["The set would contain nothing", []],
    ["is not a valid pattern", ["--allow", "Hub Search"]],
    ["A set cannot contain another set", ["--allow", "set:other"]],
    [`The tool "box.look" is not in the set`, ["--allow", "hub", "--rename", "box.look=look"]],
    ["would both be called", ["--allow", "hub", "--rename", "hub.a=x", "--rename", "hub.b=x"]],
    ["looks like the name of another server's tool", ["--allow", "hub", "--rename", "hub.a=box__look"]],
    ["names no argument", ["--allow", "hub", "--fix", "hub.a=1"]],
    ["is not a key=value pair", ["--allow", "hub", "--rename", "hub.a"]],
    ["is sent as the number 1.1", ["--allow", "hub", "--fix", "hub.a.version=1.10"]],
    ["cannot be sent exactly", ["--allow", "hub", "--fix", "hub.a.n=12345678901234567890"]],
  ])("%s: wrong usage, with what to do", async (message, args) => {
    const { code, stdout, stderr } = await run("sets", "create", "desk", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.toLowerCase()).toContain("fix:");
  });

  test("creating a set names servers that do not exist in its tenant, and creates it nevertheless", async () => {
    await nexus.configure({ kit: stdioFixture() });
    const content = ["--allow", "kit.echo", "--allow", "kti/prompts", "--allow", "*.look", "--rename", "box.look=look"];
    const created = await run("sets", "create", "desk", ...content);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining("Created") as string });
    const missing = (stderr: string) => [...stderr.matchAll(/There is no server "(.+?)" in/g)].map(([, name]) => name);
    expect(missing(created.stderr)).toEqual(["kti", "box"]);
    await run("tenants", "create", "shop");
    const other = await run("sets", "create", "desk", "--tenant", "shop", "--allow", "kit");
    expect(missing(other.stderr)).toEqual(["kit"]);
    expect(other.stderr).toContain("nexus keys create NAME --allow set:desk --tenant shop");
  });

  test("a key may be for a set that does not exist yet, which is said; explain tells about sets and what is in them", async () => {
    await nexus.configure({ kit: stdioFixture() });
    const created = await run("keys", "create", "desk", "--allow", "set:desk", "--deny", "kit.sleep");
    expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining(`There is no set "desk"`) as string });
    const [, id = ""] = created.stdout.split("_");
    expect((await run("keys", "explain", id, "set:desk")).code).toBe(6);
    await run("sets", "create", "desk", "--allow", "kit", "--deny", "kit.fail*");
    const explain = async (...what: string[]) => {
      const { code, stdout } = await run("keys", "explain", id, ...what, "--json");
      return { code, rule: parsed(stdout)["rule"] };
    };
    expect(await explain("set:desk")).toEqual({ code: 0, rule: "allow set:desk" });
    expect(await explain("kit.echo")).toEqual({ code: 8, rule: null });
    expect(await explain("kit.echo", "--set", "desk")).toEqual({ code: 0, rule: "allow set:desk" });
    expect(await explain("kit.sleep", "--set", "desk")).toEqual({ code: 8, rule: "deny kit.sleep" });
    expect(await explain("kit.fail", "--set", "desk")).toEqual({ code: 8, rule: "set desk: deny kit.fail*" });
    expect((await run("keys", "explain", id, "kit.echo", "--set", "dsk")).code).toBe(6);
    expect((await run("keys", "create", "desk", "--allow", "set:desk")).stderr).not.toContain("There is no set");
  });

  test("a running gateway serves sets as they are created, changed and removed, to keys that may use them", async () => {
    const { child, output } = nexus.start(["serve", "--demo", "--port", "0", "--json", "--database", database]);
    await expect.poll(() => output.stdout).toContain("\n");
    const url = String(parsed(output.stdout)["url"]).replace("/mcp", "/sets/games/mcp");
    await run("sets", "create", "games", "--allow", "demo.roll_dice", "--rename", "demo.roll_dice=roll");
    const { key } = parsed((await run("keys", "create", "player", "--allow", "set:games", "--json")).stdout);
    const { key: stranger } = parsed((await run("keys", "create", "other", "--allow", "demo", "--json")).stdout);
    const open = (secret: unknown) => connect({ url, headers: { authorization: `Bearer ${String(secret)}` } });
    const status = async (secret: unknown) =>
      (await fetch(url, { method: "POST", headers: { authorization: `Bearer ${String(secret)}` } })).status;
    await expect.poll(() => status(key)).not.toBe(404);
    expect(await status(stranger)).toBe(404);
    await using client = await open(key);
    const names = async () => (await client.listTools()).map(({ name }) => name);
    expect(await names()).toEqual(["roll"]);
    await run("sets", "create", "games", "--allow", "demo.roll_dice", "--replace");
    await expect.poll(names).toEqual(["demo__roll_dice"]);
    await run("sets", "remove", "games");
    await expect.poll(() => status(key)).toBe(404);
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
  });
});
