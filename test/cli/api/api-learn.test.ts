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
      # a comment that stays
      city: string
      degrees: { type: integer, minimum: -50, maximum: 60 }
      sky: { type: string, codes: { 1: clear, 2: cloudy } }
      days: { list: { type: Day } }
  Day:
    fields:
      date: date
      rain: { type: number }
tools:
  report:
    title: Report
    description: The weather.
    effect: read
    input: Nothing
    request: { method: GET, path: report }
    response: { type: Report, as: json, unknown: report, text: "It is {degrees}." }
`;

const ANSWER = {
  degrees: 71,
  sky: 3,
  station: "Hohe Warte",
  days: [
    { date: "2030-01-01", rain: 1, wind_speed: 3 },
    { date: "2030-01-02", wind_speed: 4.5 },
  ],
};

let world: NexusWorld;
const upstream = createServer((_, response) => {
  response.setHeader("content-type", "application/json").end(JSON.stringify(ANSWER));
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

interface Learned {
  items: { path: string; proposal: string; count: number; values: string[]; edit?: unknown }[];
  applied: number;
}

test("X5: answers that do not fit the file are remembered without their texts, and become a proposed change", async () => {
  const empty = await world.run(["api", "learn", "weather"]);
  expect(empty).toMatchObject({
    code: 0,
    stdout: "All answers that were seen on this machine are as the file says.\n",
  });
  for (let call = 0; call < 2; call++) {
    expect((await world.run(["mcp", "call", "weather.report"])).code).toBe(0);
  }
  const listed = await world.run(["api", "learn", "weather", "--json"]);
  expect(listed.stdout).not.toContain("Hohe Warte");
  const { items, applied } = JSON.parse(listed.stdout) as Learned;
  expect(applied).toBe(0);
  expect(Object.fromEntries(items.map(({ path, proposal, count }) => [path, [proposal, count]]))).toEqual({
    city: ["make it optional", 2],
    degrees: ["allow values up to 71", 2],
    sky: ["add the codes 3", 2],
    station: ["add it as an optional field (string)", 2],
    "days[].rain": ["make it optional", 2],
    "days[]/wind_speed": ["add it as an optional field (number)", 4],
  });

  const made = await world.run(["api", "learn", "weather", "--apply"]);
  expect(made.stdout).toContain("Changed 6 places of weather.nexus.yaml. Review and approve: nexus api diff weather");
  expect(await world.read("home/work/project/weather.nexus.yaml")).toContain("# a comment that stays");
  expect((await world.run(["api", "check", "weather"])).code).toBe(0);
  expect((await world.run(["api", "diff", "weather"])).stdout).toContain("windSpeed");
  expect((await world.run(["mcp", "call", "weather.report"])).code).not.toBe(0);

  expect((await world.run(["api", "approve", "weather", "--yes", "--by", "Ada"])).code).toBe(0);
  const { stdout } = await world.run(["mcp", "call", "weather.report", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    structuredContent: { sky: "code_3", station: "Hohe Warte", degrees: 71 },
  });
  expect(stdout).not.toContain("not as documented");
  expect((await world.run(["api", "learn", "weather"])).stdout).toBe(empty.stdout);
});

test("what was seen can be forgotten", async () => {
  const { code, stdout } = await world.run(["api", "learn", "weather", "--forget"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Forgot 0 deviations.\n" });
});
