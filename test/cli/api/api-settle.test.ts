import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const FILE = `nexus: 1
api: bakery
title: Bakery
version: 1.0.0
upstream: { base: https://bakery.example/, allow: [https://bakery.example/] }
types:
  Order:
    fields:
      bread: string
      orderId: { value: request_key(), type: string }
  Ordered: { fields: { number: integer } }
tools:
  order:
    title: Order
    description: Orders a bread.
    effect: write
    input: Order
    request: { method: POST, path: orders, body: json }
    response: { type: Ordered, as: json, text: "Order {number}." }
    limits: { timeout: 300ms }
    outcomeUnknown: Ask the bakery.
`;

let world: NexusWorld;
let hangs = true;
let received = 0;
const held: ServerResponse[] = [];
const upstream = createServer((_, response) => {
  received++;
  if (hangs) held.push(response);
  else response.setHeader("content-type", "application/json").end('{"number":7}');
});

beforeAll(async () => {
  world = await NexusWorld.open();
  await world.write("home/work/project/bakery.nexus.yaml", FILE);
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const bound = upstream.address();
  const address = `http://127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}/`;
  expect((await world.run(["api", "approve", "bakery", "--yes", "--by", "Ada"])).code).toBe(0);
  const added = await world.run(["mcp", "add", "bakery", "--api", "bakery.nexus.yaml", "--upstream", address]);
  expect(added).toMatchObject({ code: 0 });
});
afterAll(async () => {
  for (const response of held) response.destroy();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  await world[Symbol.asyncDispose]();
});

const order = (bread: string) => world.run(["mcp", "call", "bakery.order", "--arg", `bread=${bread}`]);

interface Listed {
  items: { id: string; server: string; tool: string }[];
}

test("X2: a write without an answer is listed, not sent again, and settled by a person", async () => {
  expect(await world.run(["api", "writes"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "There are no writes with unknown outcome.\n",
  });
  const first = await order("rye");
  expect(first.code).toBe(5);
  const [, id = ""] = /nexus api settle (\w+) --happened yes\|no/.exec(first.stdout) ?? [];
  expect(first.stdout).toMatch(/^Bakery did not respond in time\.\nAsk the bakery\.\nOnce that is known/);

  const listed = await world.run(["api", "writes"]);
  expect(listed).toMatchObject({ code: 0, stderr: "To record an outcome: nexus api settle ID --happened yes|no\n" });
  expect(listed.stdout).toContain(`${id}  bakery.order  `);
  expect((await world.run(["api", "writes", "cafe"])).stderr).toBe(
    'There are no writes of the server "cafe" with unknown outcome.\nServers that have some: bakery\n',
  );
  const repeated = await order("rye");
  expect(repeated).toMatchObject({ code: 5 });
  expect(repeated.stdout).toMatch(
    /^The same call was made at \S+, and its outcome is not known\. It is not sent again/,
  );
  expect(received).toBe(1);

  const settle = (...words: string[]) => world.run(["api", "settle", ...words]);
  expect(await settle(id)).toMatchObject({ code: 2, stderr: expect.stringContaining("--happened must be yes or no") });
  expect(await settle("XXXX", "--happened", "yes")).toMatchObject({ code: 6 });
  expect(await settle(id, "--happened", "yes", "--server", "cafe")).toMatchObject({
    code: 6,
    stderr: expect.stringContaining(`The write "${id}" is one of the server "bakery"`),
  });
  expect(await settle(id.toLowerCase(), "--happened", "yes")).toMatchObject({
    code: 0,
    stdout: `Recorded that ${id} of "bakery" was executed. The same call is not sent again.\n`,
  });
  expect(await settle(id, "--happened", "no")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`The outcome is already recorded: ${id} was executed`),
  });
  expect((await order("rye")).stdout).toContain("a person confirmed that it was executed");
  expect(received).toBe(1);
});

test("X2: a write that a person recorded as not executed can be made again", async () => {
  hangs = true;
  expect((await order("oat")).code).toBe(5);
  const { items } = JSON.parse((await world.run(["api", "writes", "bakery", "--json"])).stdout) as Listed;
  expect(items).toMatchObject([{ server: "bakery", tool: "order" }]);
  const [{ id } = { id: "" }] = items;
  const settled = await world.run(["api", "settle", id, "--happened", "no"]);
  expect(settled.stdout).toBe(`Recorded that ${id} of "bakery" was not executed. The same call can be made again.\n`);
  hangs = false;
  expect(await order("oat")).toMatchObject({ code: 0, stdout: expect.stringContaining("Order 7.") });
  expect(await world.run(["api", "settle", id, "--happened", "no"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${id} was executed`),
  });
  expect(await world.run(["api", "writes"])).toMatchObject({ code: 0, stdout: "" });
});
