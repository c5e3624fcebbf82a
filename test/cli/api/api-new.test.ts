import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(() => world[Symbol.asyncDispose]());

const COMMAND = `curl 'https://api.shop.example/v2/orders/17/lines?limit=20&api_key=s3cr3t-k3y' \\
  -H 'authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.s3cr3t' \\
  -H 'content-type: application/json' \\
  -H 'x-tenant: blue' \\
  -b 'sid=s3cr3t-session' \\
  --data-raw '{"sku":"T-1","count":2,"to":{"city":"Linz"},"password":"s3cr3t-pass"}'`;

test("nexus api new makes a tool file of a curl command, without its secrets, which passes nexus api check (X6, X9)", async () => {
  const { code, stdout } = await world.run(["api", "new", "shop", "--curl", COMMAND]);
  expect(code).toBe(0);
  expect(stdout).toContain("Wrote api/shop/shop.nexus.yaml with the tool");
  expect(stdout).toMatch(/nexus secrets set shop\.\S+\n.*nexus secrets set shop\.\S+\n.*nexus secrets set shop\./);
  const file = await world.read("home/work/project/api/shop/shop.nexus.yaml");
  expect(file).toContain("base: https://api.shop.example/");
  expect(file).toContain("{orderId}");
  const document = await world.read("home/work/project/api/shop/request.json");
  expect(stdout + file + document).not.toContain("s3cr3t");
  const checked = await world.run(["api", "check", "shop"]);
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/: 0 errors, .*1 tool: /) });
  const tested = await world.run(["api", "test", "shop"]);
  expect(tested.code).toBe(0);
});

test("nexus api new never overwrites a file", async () => {
  await world.run(["api", "new", "twice", "--curl", "curl https://a.example/x"]);
  const again = await world.run(["api", "new", "twice", "--curl", "curl https://b.example/x"]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toContain("already exists");
  expect(await world.read("home/work/project/api/twice/twice.nexus.yaml")).toContain("https://a.example/");
});

test("--curl - reads the command from stdin, and the name comes from the host", async () => {
  const { code, stdout } = await world.run(["api", "new", "--curl", "-", "--json"], {
    stdin: "curl -u me:s3cr3t https://api.parcels.example/v1/parcels?state=moving | jq .",
  });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    api: "parcels",
    file: join(world.project, "api", "parcels", "parcels.nexus.yaml"),
    tools: [expect.any(String)],
    secrets: [expect.stringMatching(/^parcels\./), expect.stringMatching(/^parcels\./)],
  });
  expect(stdout).not.toContain("s3cr3t");
});

test.each([
  [["api", "new", "shop2"], "--curl"],
  [["api", "new", "Shop Two", "--curl", "curl https://a.example"], "cannot be the name of an API"],
  [["api", "new", "shop2", "--curl", "wget https://a.example"], "not a curl command"],
  [["api", "new", "shop2", "--curl", "curl -X POST"], "names no address"],
])("nexus %j is refused, and nothing is written", async (words, message) => {
  const { code, stderr } = await world.run(words);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
  expect(existsSync(join(world.project, "api", "shop2"))).toBe(false);
});

test.runIf(HAS_TERMINAL)(
  "nexus api new asks at a terminal for the address, the request and its credentials",
  async () => {
    const { child, output } = world.inTerminal(["api", "new", "asked"]);
    const answers: [question: string, answer: string][] = [
      ["Base address", "nowhere"],
      ["not an http or https address", "https://api.asked.example/v1"],
      ["Method of the first request", "post"],
      ["Its path", "orders/{orderId}/notes"],
      ["query parameters", "draft"],
      ["fields of its JSON body", "text author"],
      ["Credentials", "header X-Shop-Code"],
    ];
    for (const [question, answer] of answers) {
      await expect.poll(() => output.stdout).toContain(question);
      child.stdin?.write(`${answer}\r`);
    }
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(0);
    expect(output.stdout).toContain("nexus secrets set asked.");
    const file = await world.read("home/work/project/api/asked/asked.nexus.yaml");
    expect(file).toContain("v1/orders/{orderId}/notes");
    expect(file).toContain("X-Shop-Code:");
    expect(await world.run(["api", "check", "asked"])).toMatchObject({ code: 0 });
  },
);
