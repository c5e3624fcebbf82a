import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { StoreWorld } from "../fixtures/store-world.ts";

const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe("nexus keys and nexus tenants", () => {
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

  test("a key is printed once, alone on stdout, and every list shows all of it but the secret (X7)", async () => {
    const created = await run(
      "keys",
      "create",
      "ci",
      "--allow",
      "github.search*",
      "--deny",
      "*.delete*",
      "--expires",
      "90d",
    );
    expect(created.code).toBe(0);
    expect(created.stdout).toMatch(/^nxs_[A-Za-z0-9]+_[A-Za-z0-9]+\n$/);
    expect(created.stderr).toContain("It is shown only once");
    const [, id = "", secret = ""] = created.stdout.trim().split("_");
    const listed = await run("keys", "list");
    expect(listed.stdout).toMatch(
      new RegExp(`^${id}  ci  default  caller  not used yet  github.search\\*, not \\*.delete\\*\n$`),
    );
    const { items } = parsed((await run("keys", "list", "--json")).stdout);
    expect(items).toMatchObject([{ id, name: "ci", allow: ["github.search*"], deny: ["*.delete*"], revoked: null }]);
    for (const shown of [listed.stdout, JSON.stringify(items)]) expect(shown).not.toContain(secret);
  });

  test("limits of a key are shown by lists, and changed one by one", async () => {
    const limits = ["--rate", "10/s", "--per-day", "10000", "--concurrent", "8", "--max-request", "64kB"];
    const { id } = parsed((await run("keys", "create", "ci", "--allow", "*", ...limits, "--json")).stdout);
    expect((await run("keys", "list")).stdout).toContain("*, 10/s, 10000 per day, 8 at once, requests up to 64.0 kB\n");
    const listed = async () => (parsed((await run("keys", "list", "--json")).stdout)["items"] as object[])[0];
    const all = { rate: "10/s", perDay: 10_000, concurrent: 8, maxRequest: 64_000 };
    expect(await listed()).toMatchObject({ id, limits: all });
    const changed = await run("keys", "limit", String(id), "--rate", "600/m", "--per-day", "none");
    expect(changed.stdout).toBe(`Limits of the key ${String(id)} ("ci"): 600/m, 8 at once, requests up to 64.0 kB.\n`);
    expect(await listed()).toMatchObject({ limits: { rate: "600/m", concurrent: 8, maxRequest: 64_000 } });
    const none = ["--rate", "none", "--concurrent", "none", "--max-request", "none"];
    expect((await run("keys", "limit", String(id), ...none)).stdout).toContain(": none.");
    expect((await run("keys", "limit", String(id))).stderr).toContain("No limit is named");
    expect(await run("keys", "limit", "3fA9cK2mQx7Ytz01", "--rate", "1/s")).toMatchObject({ code: 6 });
    const named = { code: 6, stderr: expect.stringContaining(`"ci" is the name of a key. Use its id: `) };
    expect(await run("keys", "limit", "ci", "--rate", "1/s")).toMatchObject(named);
  });

  test("keys of a tenant that does not exist are not an empty list", async () => {
    await run("store", "migrate");
    const ran = await run("keys", "list", "--tenant", "shpo");
    expect(ran).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining(`There is no tenant "shpo"`) });
    expect(await run("keys", "list", "--tenant", "default", "--json")).toMatchObject({
      code: 0,
      stdout: '{"items":[]}\n',
    });
  });

  test("rotate keeps the id and gives another secret; revoke ends it, and both then know no such key", async () => {
    const { id, key } = parsed((await run("keys", "create", "ci", "--allow", "*", "--json")).stdout);
    const rotated = parsed((await run("keys", "rotate", String(id), "--overlap", "0s", "--json")).stdout);
    expect(rotated).toMatchObject({ id, name: "ci", tenant: "default", role: "caller", expires: null });
    expect(rotated["key"]).not.toBe(key);
    expect(await run("keys", "revoke", String(id))).toMatchObject({
      code: 0,
      stdout: `Revoked the key ${String(id)} ("ci").\n`,
    });
    for (const command of ["rotate", "revoke"]) {
      const again = await run("keys", command, String(id));
      expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining("There is no usable key") });
    }
  });

  test.each<[string, string[]]>([
    ["--allow must name something: the key would allow nothing", ["keys", "create", "ci"]],
    ["is not a valid pattern", ["keys", "create", "ci", "--allow", "GitHub Search"]],
    [
      `--role must be caller, operator or admin, not "boss"`,
      ["keys", "create", "ci", "--allow", "*", "--role", "boss"],
    ],
    [`--expires: "soon" is not a duration`, ["keys", "create", "ci", "--allow", "*", "--expires", "soon"]],
    [`--expires: "10ms" is not a valid duration`, ["keys", "create", "ci", "--allow", "*", "--expires", "10ms"]],
    [
      `--expires: "100000000d" is not a valid duration`,
      ["keys", "create", "ci", "--allow", "*", "--expires", "100000000d"],
    ],
    [`--rate: "10" is not a rate`, ["keys", "create", "ci", "--allow", "*", "--rate", "10"]],
    [`--rate: "0/s" is not a rate`, ["keys", "create", "ci", "--allow", "*", "--rate", "0/s"]],
    [`--rate: "5/d" is not a rate`, ["keys", "create", "ci", "--allow", "*", "--rate", "5/d"]],
    [`--per-day must be a number, not text`, ["keys", "create", "ci", "--allow", "*", "--per-day", "many"]],
    [`--concurrent must be a whole number, 1 or more`, ["keys", "create", "ci", "--allow", "*", "--concurrent", "1.5"]],
    [`--max-request must be a whole number, 1 or more`, ["keys", "create", "ci", "--allow", "*", "--max-request", "0"]],
    ["--all-tenants is only for admins", ["keys", "create", "ci", "--allow", "*", "--all-tenants"]],
    ["<name> is empty", ["keys", "create", " ", "--allow", "*"]],
    [`<name>: "Shop 1" is not a valid name`, ["tenants", "create", "Shop 1"]],
    ["This removes the tenant", ["tenants", "remove", "shop"]],
    [`The tenant "default" cannot be removed`, ["tenants", "remove", "default", "--yes"]],
  ])("%s: wrong usage, with what to do", async (message, args) => {
    await run("store", "migrate");
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("a tenant has keys of its own; removed, it is gone with them", async () => {
    expect((await run("keys", "create", "ci", "--allow", "*", "--tenant", "shop")).code).toBe(6);
    expect((await run("tenants", "create", "shop")).code).toBe(0);
    await run("keys", "create", "ci", "--allow", "*", "--tenant", "shop");
    const { items } = parsed((await run("tenants", "list", "--json")).stdout);
    expect(items).toMatchObject([
      { name: "default", keys: 0 },
      { name: "shop", keys: 1 },
    ]);
    expect((await run("tenants", "list")).stdout).toBe("default  0 keys\nshop     1 key\n");
    const [key] = parsed((await run("keys", "list", "--json")).stdout)["items"] as { id: string }[];
    const id = key?.id ?? "";
    expect((await run("keys", "revoke", id, "--tenant", "default")).code).toBe(6);
    expect((await run("keys", "rotate", id, "--tenant", "shop", "--json")).code).toBe(0);
    expect((await run("tenants", "remove", "shop", "--yes")).code).toBe(0);
    expect(parsed((await run("keys", "list", "--json")).stdout)).toEqual({ items: [] });
    expect((await run("tenants", "remove", "shop", "--yes")).code).toBe(6);
  });

  test("a tenant has limits that are shown by lists, and changed one by one", async () => {
    const created = await run("tenants", "create", "shop", "--rate", "100/s", "--json");
    expect(parsed(created.stdout)).toMatchObject({ name: "shop", limits: { rate: "100/s" } });
    const limited = await run("tenants", "limit", "shop", "--per-day", "5000", "--max-request", "1MB");
    expect(limited.stdout).toBe(`Limits of the tenant "shop": 100/s, 5000 per day, requests up to 1.0 MB.\n`);
    expect((await run("tenants", "list")).stdout).toContain(
      "shop     0 keys  100/s, 5000 per day, requests up to 1.0 MB\n",
    );
    const removed = await run("tenants", "limit", "shop", "--rate", "none", "--json");
    expect(parsed(removed.stdout)["limits"]).toEqual({ perDay: 5_000, maxRequest: 1_000_000 });
    const { items } = parsed((await run("tenants", "list", "--json")).stdout);
    expect(items).toMatchObject([
      { name: "default", limits: {} },
      { name: "shop", limits: { perDay: 5_000 } },
    ]);
    expect(await run("tenants", "limit", "shpo", "--rate", "1/s")).toMatchObject({ code: 6, stdout: "" });
  });

  test("a gateway on loopback is open until the first key exists; then it needs one, and ends what others have open (X7)", async () => {
    const { child, output } = nexus.start(["serve", "--demo", "--port", "0", "--json", "--database", database]);
    await expect.poll(() => output.stdout).toContain("\n");
    const { url, auth } = parsed(output.stdout) as { url: string; auth: string };
    expect(auth).toBe("none");
    const anybody = await connect({ url });
    expect((await anybody.listTools()).length).toBeGreaterThan(10);

    const issued = parsed((await run("keys", "create", "ci", "--allow", "demo", "--json")).stdout);
    const { id, key } = issued as { id: string; key: string };
    await expect
      .poll(() =>
        anybody.request("tools/list").then(
          () => "in",
          ({ code }: { code: string }) => code,
        ),
      )
      .toBe("AUTH_REQUIRED");
    await anybody.close();
    const headers = { authorization: `Bearer ${key}` };
    const mine = await connect({ url, headers });
    const names = (await mine.listTools()).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.every((name) => name.startsWith("demo__"))).toBe(true);
    expect((await failure(mine.callTool("capcorn__availability_search"))).message).toContain("There is no tool");

    await run("keys", "revoke", id);
    await expect
      .poll(() =>
        mine.request("tools/list").then(
          () => "in",
          ({ code }: { code: string }) => code,
        ),
      )
      .toBe("AUTH_REQUIRED");
    await mine.close();
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
    expect(output.stderr).not.toContain(key);
  });

  test("explain says whether a key may use a tool, and by which rule", async () => {
    await nexus.configure({ kit: stdioFixture() });
    const create = async (...args: string[]) =>
      String(parsed((await run("keys", "create", "k", ...args, "--json")).stdout)["id"]);
    const some = await create("--allow", "kit.echo*", "--deny", "kit.echo_secret");
    const readOnly = await create("--allow", "*", "--read-only");
    const explain = async (id: string, tool: string) => {
      const { code, stdout } = await run("keys", "explain", id, tool, "--json");
      return { code, ...parsed(stdout) };
    };
    expect(await explain(some, "kit.echo")).toMatchObject({ code: 0, allowed: true, rule: "allow kit.echo*" });
    expect(await explain(some, "kit__echo")).toMatchObject({ code: 0, allowed: true, rule: "allow kit.echo*" });
    expect(await explain(some, "kit.echo_secret")).toMatchObject({
      code: 8,
      allowed: false,
      rule: "deny kit.echo_secret",
    });
    expect(await explain(some, "kit.sleep")).toMatchObject({ code: 8, allowed: false, rule: null });
    expect(await explain(readOnly, "kit.sleep")).toMatchObject({ code: 8, allowed: false, rule: "read-only" });
    await run("keys", "revoke", some);
    expect(await explain(some, "kit.echo")).toMatchObject({ code: 8, reason: "the key is revoked" });
    expect((await run("keys", "explain", some, "nothing.echo")).code).toBe(6);
    expect((await run("keys", "explain", "nobody", "kit.echo")).code).toBe(6);
  });

  test.each([["keys list"], ["tenants list"], ["sets list"], ["mcp changes list"]])(
    "%s of a mistyped database is refused, and creates nothing",
    async (command) => {
      const file = join(stores.folder, "mistyped.db");
      const { code, stderr } = await nexus.run([...command.split(" "), "--database", `file:${file}`]);
      expect(code).toBe(6);
      expect(stderr).toContain("mistyped.db");
      expect(existsSync(file)).toBe(false);
    },
  );

  test.each([["explain", "github.search"], ["revoke"], ["rotate"]])(
    "a whole key given to keys %s is not repeated, and its id is named",
    async (command, ...rest) => {
      const { stdout } = await run("keys", "create", "whole", "--allow", "*");
      const key = stdout.trim();
      const { code, stderr } = await run("keys", command, key, ...rest);
      expect(code).toBe(2);
      expect(stderr).toContain(`Use its id: ${key.split("_")[1]}`);
      expect(stderr).not.toContain(key);
    },
  );

  test.each([
    [["--auth", "none", "--host", "0.0.0.0"], "--auth none is refused on 0.0.0.0"],
    [["--auth", "passwords"], `--auth "passwords" is unknown`],
  ])("serve %j is refused: wrong usage", async (args, message) => {
    const { code, stderr } = await run("serve", "--demo", "--port", "0", ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test.each([[["--auth", "keys"]], [["--host", "0.0.0.0"]]])(
    "serve --demo %j is refused: no command reaches the store of the demo",
    async (args) => {
      const { code, stderr } = await nexus.run(["serve", "--demo", "--port", "0", ...args]);
      expect(code).toBe(2);
      expect(stderr).toContain("Add --database");
    },
  );
});
