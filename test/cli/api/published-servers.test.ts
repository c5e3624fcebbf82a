import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../../src/index.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";

const ORDERS = new URL("../../fixtures/tool-files/orders.nexus.yaml", import.meta.url);
const PROGRAM = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
/** With a credential, so that the address of its secret is known. */
const SECRET = "secrets:\n  login: { headers: { X-Key: key } }\ntypes:";

let world: NexusWorld;
beforeEach(async () => {
  world = await NexusWorld.open();
  const text = await readFile(ORDERS, "utf8");
  const secured = text
    .replace("types:", SECRET)
    .replaceAll("request: { method: GET,", "request: { secrets: login, method: GET,");
  await world.write("home/work/project/api/orders/orders.nexus.yaml", secured);
  for (const line of [
    "api approve orders --by Ada --yes",
    "api publish orders",
    "api instances orders add test --upstream fake",
  ])
    expect((await run(line)).code, line).toBe(0);
});
afterEach(() => world[Symbol.asyncDispose]());

const run = (line: string, options: Parameters<NexusWorld["run"]>[1] = {}) => world.run(line.split(" "), options);

test("commands about servers know what is published in the user's own store", async () => {
  const servers = await run("mcp servers");
  expect(servers.stdout).toMatch(/^orders +not used yet +a published API +store$/m);
  expect(servers.stderr).toContain("0 servers in 0 files, 2 published");
  expect(JSON.parse((await run("mcp servers --json")).stdout)).toMatchObject({
    servers: [
      { id: "orders", published: true },
      { id: "orders-test", published: true },
    ],
  });
  expect((await run("mcp tools orders-test")).stdout).toContain("find_order(id: string");
  expect((await run("mcp call orders-test.find_order id=A1")).code).toBe(0);
  expect((await run("mcp tools order")).stderr).toContain('Did you mean "orders"?');
});

test("an entry of a configuration hides a published server with its name", async () => {
  await world.write(
    "home/work/project/.mcp.json",
    JSON.stringify({ mcpServers: { orders: { command: "no-such-program" } } }),
  );
  expect((await run("mcp trust --yes")).code).toBe(0);
  const { servers } = JSON.parse((await run("mcp servers --json")).stdout) as { servers: object[] };
  expect(servers).toMatchObject([
    { id: "orders", command: "no-such-program" },
    { id: "orders-test", published: true },
  ]);
});

test("a secret of a published server is limited to the address of its instance", async () => {
  const set = (name: string) => run(`secrets set ${name} --json`, { stdin: "value-of-the-key\n" });
  expect(JSON.parse((await set("orders.key")).stdout)).toMatchObject({ origins: ["https://orders.example"] });
  await run("api instances orders add there --upstream https://test.example/v1/");
  expect(JSON.parse((await set("orders-there.key")).stdout)).toMatchObject({ origins: ["https://test.example"] });
  const typo = await run("secrets set orders.kee", { stdin: "value-of-the-key\n" });
  expect(typo.stderr).toContain('The tools of "orders" do not use orders.kee; they use orders.key.');
});

test("a client that starts the gateway on pipes gets the published servers", async () => {
  const args = [PROGRAM, "serve", "--stdio", "--server", "orders-test"];
  const env = { HOME: world.home, USERPROFILE: world.home };
  await using client = await connect({ command: process.execPath, args, env, cwd: world.project });
  expect((await client.listTools()).map(({ name }) => name)).toContain("find_order");
  const { isError } = await client.callTool("find_order", { id: "A1" });
  expect(isError).toBeUndefined();
});
