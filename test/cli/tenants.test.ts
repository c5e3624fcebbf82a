import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { NexusWorld, type Ran } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { onBothEngines } from "../fixtures/store-world.ts";

const KIT = [stdioFixture().command, ...stdioFixture().args];
const MASTER = Buffer.alloc(32, 7).toString("base64");
const parsed = ({ stdout }: Ran) => JSON.parse(stdout) as Record<string, unknown>;

let nexus: NexusWorld;
beforeAll(async () => {
  nexus = await NexusWorld.open();
  await nexus.configure({ own: stdioFixture() });
});
afterAll(() => nexus[Symbol.asyncDispose]());

onBothEngines("commands with --tenant", (world) => {
  let database: string;
  beforeEach(async () => {
    database = await world().newAddressText();
    await run("tenants", "create", "shop");
  });

  const env = () => ({ NEXUS_DATABASE: database, NEXUS_MASTER_KEY: MASTER });
  const run = (...args: string[]) => nexus.run(args, { env: env() });
  const inShop = (...args: string[]) => run(...args, "--tenant", "shop");

  test("add keeps a server for a tenant and connects once; it is listed, called and removed there, and nowhere else", async () => {
    const added = await run("mcp", "add", "kit", "--tenant", "shop", "--json", "--", ...KIT);
    expect(parsed(added)).toMatchObject({ server: "kit", tenant: "shop", enabled: true, check: { ok: true } });
    expect(await readFile(join(nexus.home, ".nexus/mcp.json"), "utf8")).not.toContain("kit");
    const { servers } = parsed(await inShop("mcp", "servers", "--json"));
    expect(servers).toMatchObject([{ id: "kit", transport: "stdio", enabled: true, trusted: true }]);
    expect((await inShop("mcp", "call", "kit.echo", "text=hello")).stdout).toBe("hello\n");
    expect((await inShop("mcp", "tools", "own")).code).toBe(6);
    const { id } = parsed(await inShop("keys", "create", "ci", "--allow", "kit.echo", "--json"));
    expect((await run("keys", "explain", String(id), "kit.echo")).code).toBe(0);
    expect((await run("keys", "explain", String(id), "kit.sleep")).code).toBe(8);
    expect((await run("mcp", "tools", "kit")).code).toBe(6);
    expect(parsed(await run("mcp", "servers", "--tenant", "default", "--json"))["servers"]).toMatchObject([
      { id: "own" },
    ]);

    expect(
      (await run("mcp", "add", "Kit", "--tenant", "shop", "--no-check", "--url", "https://a.example/mcp")).code,
    ).toBe(2);
    expect(parsed(await inShop("mcp", "disable", "kit", "--json"))).toEqual({
      server: "kit",
      tenant: "shop",
      enabled: false,
      changed: true,
    });
    expect((await inShop("mcp", "tools")).stderr).toContain("nexus mcp enable kit --tenant shop");
    expect(parsed(await inShop("mcp", "enable", "kit", "--json"))).toMatchObject({ enabled: true, changed: true });
    expect((await inShop("mcp", "remove", "kit")).stdout).toBe('Removed kit from the tenant "shop"\n');
    expect(await inShop("mcp", "remove", "kit")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('The tenant "shop" has no servers'),
    });
  });

  test("wrong usage of --tenant says what to do", async () => {
    const cases: [code: number, message: string, args: string[]][] = [
      [6, "nexus tenants create bank", ["mcp", "add", "kit", "--tenant", "bank", "--url", "https://a.example/mcp"]],
      [6, 'There is no tenant "bank"', ["mcp", "servers", "--tenant", "bank"]],
      [6, 'There is no tenant "../x"', ["mcp", "logs", "kit", "--tenant", "../x"]],
      [2, "Remove --project and --file", ["mcp", "add", "kit", "--tenant", "shop", "--project", "--", "node"]],
      [2, "Remove --file, or --tenant", ["mcp", "remove", "kit", "--tenant", "shop", "--file", "a.json"]],
      [2, "--tenant cannot be used together with", ["mcp", "tools", "--tenant", "shop", "--url", "https://a.example"]],
    ];
    for (const [code, message, args] of cases) {
      const ran = await run(...args);
      expect(ran, args.join(" ")).toMatchObject({ code, stderr: expect.stringContaining(message) });
    }
  });

  test.skipIf(process.platform === "win32")(
    "secrets belong to a tenant; in a chosen database, also those of default",
    async () => {
      await run("tenants", "create", "bank");
      const set = (value: string, ...more: string[]) =>
        nexus.run(["secrets", "set", "token", ...more], { env: env(), stdin: value });
      expect((await set("of-the-shop", "--tenant", "shop")).code).toBe(0);
      expect((await set("of-default")).code).toBe(0);
      // Stored nowhere else: the user's own files know neither.
      expect(parsed(await nexus.run(["secrets", "list", "--json"]))).toEqual({ items: [], errors: [] });
      expect(parsed(await run("secrets", "list", "--json"))["items"]).toEqual([{ name: "token", origins: [] }]);
      expect(parsed(await run("secrets", "list", "--json", "--tenant", "bank"))["items"]).toEqual([]);

      // What a server writes is masked, so it writes how long its secret is.
      const line = `echo "length \${#TOKEN}" >&2; exec ${KIT.map((word) => `'${word}'`).join(" ")}`;
      for (const tenant of ["shop", "bank"]) {
        const entry = ["--env", "TOKEN=${secret:token:-none}", "--", "sh", "-c", line];
        expect((await run("mcp", "add", "kit", "--tenant", tenant, ...entry)).code).toBe(0);
      }
      const seen = async (tenant: string) =>
        /length \d+/.exec((await run("mcp", "logs", "kit", "--lines", "1", "--tenant", tenant)).stdout)?.[0];
      expect([await seen("shop"), await seen("bank")]).toEqual(["length 11", "length 4"]);
      expect((await run("secrets", "remove", "token", "--tenant", "bank")).code).toBe(6);
      expect((await run("secrets", "remove", "token", "--tenant", "shop")).code).toBe(0);
    },
  );

  test("a removed tenant leaves no files behind", async () => {
    await run("mcp", "add", "kit", "--tenant", "shop", "--", ...KIT);
    const folder = join(nexus.home, ".local/state/nexus/tenants/shop");
    await mkdir(folder, { recursive: true });
    expect((await run("tenants", "remove", "shop", "--yes")).code).toBe(0);
    await expect(readFile(folder)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
