import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const ORDERS = new URL("../../fixtures/tool-files/orders.nexus.yaml", import.meta.url);
const FILE = "home/work/project/api/orders/orders.nexus.yaml";

let world: NexusWorld;
let text: string;
beforeEach(async () => {
  world = await NexusWorld.open();
  text = await readFile(ORDERS, "utf8");
  await world.write(FILE, text);
});
afterEach(() => world[Symbol.asyncDispose]());

const run = (line: string) => world.run(line.split(" "));

async function approve(content = text): Promise<void> {
  await world.write(FILE, content);
  expect((await run("api approve orders --by Ada --yes")).code).toBe(0);
}

test("only what is approved is published, and the approval is shown in full", async () => {
  const refused = await run("api publish orders");
  expect(refused.code).toBe(8);
  expect(refused.stderr).toContain("was never approved. Only what is approved can be published");
  expect(refused.stderr).toContain("nexus api approve orders");
  await approve();
  const published = await run("api publish orders");
  expect(published.code).toBe(0);
  expect(published.stdout).toMatch(
    /^Published orders 1\.0\.0\n {2}hash: +sha256:[0-9a-f]{64}\n {2}approved: +by Ada at 20/,
  );
  expect(published.stdout).toContain('served as:  orders, the instance "live"');
  await world.write(FILE, text.replace("maxItems: 3", "maxItems: 4"));
  expect((await run("api publish orders")).stderr).toContain("has changed since it was approved");
});

test("a breaking change is named, and published under the major number that is asked for", async () => {
  await approve();
  await run("api publish orders");
  const shorter = text.replace("maxLength: 8", "maxLength: 7");
  await world.write(FILE, shorter);
  const diff = await run("api diff orders");
  expect(diff.stdout).toContain("Compared with version 1.0.0, which is published: breaking");
  expect(JSON.parse((await run("api diff orders --json")).stdout)).toMatchObject({
    published: { kind: "breaking", since: "1.0.0", next: "2.0.0" },
  });
  await approve(shorter);
  const refused = await run("api publish orders");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("types.Find.fields.id.shape.maxLength: 8 → 7");
  expect(refused.stderr).toContain("--as 2.0.0");
  const published = await run("api publish orders --as 2.0.0 --json");
  expect(JSON.parse(published.stdout)).toMatchObject({
    isNew: true,
    version: { version: "2.0.0", change: { since: "1.0.0", kind: "breaking" } },
    instance: { server: "orders", version: "2.0.0", former: ["1.0.0"] },
  });
  expect((await run("api rollback orders")).stdout).toBe("orders serves version 1.0.0 of orders again.\n");
  const nothing = await run("api rollback orders");
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain("Choose one with --to: 2.0.0.");
});

test("versions are listed with what they changed, and retired when nothing serves them", async () => {
  await approve();
  await run("api publish orders");
  await approve(text.replace("maxItems: 3", "maxItems: 4"));
  await run("api publish orders");
  const listed = await run("api versions orders");
  expect(listed.stdout).toMatch(/^orders 1\.0\.0\n/);
  expect(listed.stdout).toContain("widened: more is possible, and calls of version 1.0.0 mean the same");
  expect((await run("api versions")).stdout).toBe("orders  1.1.0  2 versions  orders 1.1.0\n");
  expect((await run("api versions orders --retire 1.1.0")).stderr).toContain('is served by "live"');
  expect((await run("api versions orders --retire 1.0.0")).stdout).toBe("Version 1.0.0 of orders is retired.\n");
  expect((await run("api rollback orders --to 1.0.0")).stderr).toContain("--restore 1.0.0");
  expect((await run("api versions order")).code).toBe(6);
  expect((await run("api versions order")).stderr).toContain('Did you mean "orders"?');
});

test("instances are added, changed and removed, and each has its own server", async () => {
  await approve();
  await run("api publish orders");
  expect((await run("api instances orders add test --upstream fake --setting region=south")).stdout).toBe(
    "orders-test serves version 1.0.0 of orders: to fake, region=south.\n",
  );
  expect((await run("api instances orders add test")).code).toBe(2);
  expect((await run("api instances orders set tets")).code).toBe(6);
  expect((await run("api instances orders set test --call-timeout 5s --per-minute 60")).code).toBe(0);
  expect((await run("api instances orders set test --call-timeout soon")).code).toBe(2);
  expect((await run("api instances orders set test --setting regoin=x")).stderr).toContain("regoin");
  expect((await run("api instances orders")).stdout).toBe(
    "live  orders       1.0.0\ntest  orders-test  1.0.0  to fake, region=south, at most 5.0 s, 60 per minute\n",
  );
  expect((await run("api instances orders remove test")).code).toBe(0);
  expect(JSON.parse((await run("api instances orders --json")).stdout)).toMatchObject({ items: [{ name: "live" }] });
  expect((await run("store check")).stdout).toContain("1 published version of an API\n  1 instance of an API\n");
});
