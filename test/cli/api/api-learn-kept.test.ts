import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const MANUAL = `# Ferry API

Base URL: \`https://ferry.test/v1\`

## List cabins

\`GET /cabins\`

| Parameter | Type | Required | Description |
|---|---|---|---|
| ship | string | yes | The ship |

Response:

\`\`\`json
{ "ship": "Aurora", "cabins": [{ "number": 12, "beds": 2 }] }
\`\`\`
`;

const ANSWER = {
  ship: "Aurora",
  harbour: { name: "Kiel" },
  "sea.state": 3,
  cabins: [
    { number: 12, beds: 2, deck: "7" },
    { number: 13, beds: 4, deck: "8", windows: [1, 2] },
  ],
};

let world: NexusWorld;
const upstream = createServer((_, response) => {
  response.setHeader("content-type", "application/json").end(JSON.stringify(ANSWER));
});

beforeAll(async () => {
  world = await NexusWorld.open();
  await world.write("home/work/project/manual.md", MANUAL);
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await new Promise((resolve) => upstream.close(resolve));
  await world[Symbol.asyncDispose]();
});

test("X5: members that a draft of a manual does not know are in the result, and become proposed fields", async () => {
  const bound = upstream.address();
  const address = `http://127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}/`;
  expect(await world.run(["api", "import", "manual.md", "--name", "ferry"])).toMatchObject({ code: 0 });
  expect((await world.run(["api", "approve", "ferry", "--yes", "--by", "Ada"])).code).toBe(0);
  const added = await world.run(["mcp", "add", "ferry", "--api", "ferry.nexus.yaml", "--upstream", address]);
  expect(added).toMatchObject({ code: 0 });
  const { stdout } = await world.run(["mcp", "call", "ferry.list_cabins", "--arg", "ship=Aurora", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ structuredContent: ANSWER });
  expect(stdout).not.toContain("not as documented");

  const listed = await world.run(["api", "learn", "ferry", "--json"]);
  const { items } = JSON.parse(listed.stdout) as { items: { path: string; proposal: string; count: number }[] };
  expect(Object.fromEntries(items.map(({ path, proposal, count }) => [path, [proposal, count]]))).toEqual({
    "cabins[]/deck": ["add it as an optional field (string)", 2],
    "cabins[]/windows": ["add it as an optional field (list)", 1],
    harbour: ["add it as an optional field (object)", 1],
    "sea.state": ["add it as an optional field (integer)", 1],
  });
  expect(listed.stdout).not.toContain("Kiel");

  expect((await world.run(["api", "learn", "ferry", "--apply"])).stdout).toContain("Changed 4 places");
  expect((await world.run(["api", "approve", "ferry", "--yes", "--by", "Ada"])).code).toBe(0);
  const again = await world.run(["mcp", "call", "ferry.list_cabins", "--arg", "ship=Aurora", "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({
    structuredContent: { seaState: 3, harbour: { name: "Kiel" }, cabins: [{ deck: "7" }, { windows: [1, 2] }] },
  });
  expect((await world.run(["api", "learn", "ferry"])).stdout).toContain("All answers that were seen");
});
