import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const FILE = `nexus: 1
api: weather
title: Weather
version: 1.0.0
upstream: { base: https://weather.example/, allow: [https://weather.example/] }
types:
  Nothing: { fields: {} }
  Report:
    fields:
      city: string
      degrees: { type: integer, minimum: -50, maximum: 60 }
      sky: { type: string, codes: { 1: clear, 2: cloudy } }
      wind: { type: string, codes: { 1: calm, 2: storm } }
tools:
  report:
    title: Report
    description: The weather.
    effect: read
    input: Nothing
    request: { method: GET, path: report }
    response: { type: Report, as: json, unknown: report, text: "It is {degrees}." }
`;

const NAMES = ["constructor", "toString", "hasOwnProperty", "prototype", "__proto__"];
const members = NAMES.map((name) => `"${name}":1`).join(",");
// Both codes of "wind" would get the same name.
const answers = ["__proto__", "constructor", "null"].map(
  (code, index) =>
    `{"city":"Linz","degrees":1,"sky":"${code}","wind":"${index % 2 === 0 ? "+7" : "-7"}","/abs":1,${members}}`,
);

let world: NexusWorld;
let calls = 0;
const upstream = createServer((_, response) => {
  response.setHeader("content-type", "application/json").end(answers[calls++ % answers.length]);
});

beforeAll(async () => {
  world = await NexusWorld.open();
  await world.write("home/work/project/weather.nexus.yaml", FILE);
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const bound = upstream.address();
  const address = `http://127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}/`;
  expect((await world.run(["api", "approve", "weather", "--yes", "--by", "Ada"])).code).toBe(0);
  const added = await world.run(["mcp", "add", "weather", "--api", "weather.nexus.yaml", "--upstream", address]);
  expect(added).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await new Promise((resolve) => upstream.close(resolve));
  await world[Symbol.asyncDispose]();
});

test("members and codes that are named like members of every object become fields, are shown before the approval, and arrive", async () => {
  for (const _ of answers) expect((await world.run(["mcp", "call", "weather.report"])).code).toBe(0);
  const listed = await world.run(["api", "learn", "weather", "--json"]);
  const { items } = JSON.parse(listed.stdout) as { items: { path: string; proposal: string; edit?: unknown }[] };
  const open = items.filter(({ edit }) => edit === undefined).map(({ path, proposal }) => `${path}: ${proposal}`);
  expect(open.toSorted()).toEqual(["/abs: look at the answers of this tool", "wind: add the codes +7, -7"]);

  const made = await world.run(["api", "learn", "weather", "--apply"]);
  expect(made.stdout).toContain("Changed 6 places of weather.nexus.yaml");
  const changes = await world.run(["api", "diff", "weather"]);
  expect(changes).toMatchObject({ stderr: "" });
  for (const name of [...NAMES.slice(0, 4), "proto"]) expect(changes.stdout).toContain(`fields.${name}: is new`);
  expect(changes.stdout).toContain("field added    report().toString: is new");

  expect((await world.run(["api", "approve", "weather", "--yes", "--by", "Ada"])).code).toBe(0);
  const { stdout } = await world.run(["mcp", "call", "weather.report", "--json"]);
  const { structuredContent } = JSON.parse(stdout) as { structuredContent: Record<string, unknown> };
  expect(Object.entries(structuredContent)).toEqual(
    expect.arrayContaining([...NAMES.slice(0, 4), "proto"].map((name) => [name, 1])),
  );
  expect(structuredContent["sky"]).toBe("code___proto__");

  await world.write("home/work/project/weather.nexus.yaml", FILE);
  const gone = await world.run(["api", "diff", "weather"]);
  expect(gone.stdout).toContain("field removed  report().constructor: is gone");
});
