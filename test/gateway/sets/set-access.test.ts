import { afterAll, beforeAll, expect, test } from "vitest";
import { MemorySets, type Decide } from "../../../src/gateway/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { KeyGrants } from "../../../src/store/keep/api-keys.ts";
import { Grants } from "../../../src/team/grants.ts";
import type { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { cabinet, calledTools } from "../access/access-servers.ts";
import { AccessWorld, namesIn } from "../access/access-world.ts";

const NOTHING_ELSE = { deny: [], readOnly: false };
const KEYS: Record<string, KeyGrants> = {
  set: { ...NOTHING_ELSE, allow: ["set:desk"] },
  sets: { ...NOTHING_ELSE, allow: ["set:*"], deny: ["set:safe"] },
  all: { ...NOTHING_ELSE, allow: ["*"] },
  denied: { ...NOTHING_ELSE, allow: ["*"], deny: ["set:desk"] },
  partly: { ...NOTHING_ELSE, allow: ["set:desk"], deny: ["box.change", "box/prompts"] },
  without: { ...NOTHING_ELSE, allow: ["set:desk"], deny: ["box"] },
  reader: { ...NOTHING_ELSE, allow: ["set:desk"], readOnly: true },
  server: { ...NOTHING_ELSE, allow: ["box.*"] },
};

let box: ScriptedServer;
let chest: ScriptedServer;
let world: AccessWorld;

beforeAll(async () => {
  const grants = new Map(Object.entries(KEYS).map(([id, key]) => [id, new Grants(key)]));
  const decide: Decide = ({ id }, _operation, target) =>
    grants.get(id)?.decide(target) ?? { kind: "denied", reason: "no key" };
  const sets = new MemorySets({
    desk: {
      allow: ["box.look", "box.change", "box.placed", "box/prompts", "chest.look"],
      tools: { "box.placed": { arguments: { region: "eu" } } },
    },
    safe: { allow: ["chest"] },
  });
  [box, chest] = [cabinet(), cabinet()];
  world = await AccessWorld.open({ box, chest }, { decide, sets, policy: { deny: ["chest.destroy"] } });
});

afterAll(() => world[Symbol.asyncDispose]());

const EVERYTHING = ["box__look", "box__change", "box__placed", "chest__look"];

test.each([
  ["set", { desk: EVERYTHING, safe: "404" }],
  ["sets", { desk: EVERYTHING, safe: "404" }],
  [
    "all",
    { desk: EVERYTHING, safe: ["look", "change", "placed", "working", "asking"].map((tool) => `chest__${tool}`) },
  ],
  ["denied", { desk: "404", safe: expect.arrayContaining(["chest__look"]) as string[] }],
  ["partly", { desk: ["box__look", "box__placed", "chest__look"], safe: "404" }],
  ["without", { desk: ["chest__look"], safe: "404" }],
  ["reader", { desk: ["box__look", "chest__look"], safe: "404" }],
  ["server", { desk: "404", safe: "404" }],
])(
  "the key %s sees in each set what its grants and the set allow, and calls nothing else there",
  async (user, expected) => {
    for (const [set, tools] of Object.entries(expected)) {
      const answer = await world.exactly("tools/list", {}, { set, user });
      if (tools === "404") {
        const unknown = await world.exactly("tools/list", {}, { set: "none", user });
        expect(answer).toMatchObject({ status: 404 });
        // Byte for byte like a set that does not exist.
        expect(JSON.stringify(answer).replaceAll(set, "none")).toBe(JSON.stringify(unknown));
        continue;
      }
      const shown = namesIn(await world.ask("tools/list", {}, { set, user }));
      expect(shown).toEqual(tools);
      for (const name of ["box__change", "box__destroy", "chest__look", "chest__destroy"]) {
        const { error } = await world.ask("tools/call", { name, arguments: {} }, { set, user });
        expect([name, error === undefined]).toEqual([name, shown.includes(name)]);
      }
    }
  },
);

test("a set that a key may use gives it nothing outside of the set, where the fixed arguments would not hold", async () => {
  const user = "set";
  expect(namesIn(await world.ask("tools/list", {}, { user }))).toEqual([]);
  const placed = { name: "box__placed", arguments: { region: "us" } };
  expect((await world.ask("tools/call", placed, { user })).error?.message).toContain("There is no tool");
  expect(await world.exactly("tools/call", { ...placed, name: "placed" }, { user, server: "box" })).toMatchObject({
    status: 404,
  });
  expect((await world.ask("tools/call", placed, { user, set: "desk" })).error?.message).toContain("Unknown argument");
  // In the set nobody repeats a fixed argument in a header.
  const region = { name: "box__placed", arguments: {} };
  expect((await world.ask("tools/call", region, { user, set: "desk" })).error).toBeUndefined();
  const [last] = box.received.filter((each) => "method" in each && each.method === "tools/call").slice(-1);
  expect(last).toMatchObject({ params: { name: "placed", arguments: { region: "eu" } } });
});

test("a tool that a key denies is unknown in a set, also to a caller who sends a fixed argument", async () => {
  const placed = (args: Params) =>
    world.ask("tools/call", { name: "box__placed", arguments: args }, { set: "desk", user: "without" });
  const [plain, fixed] = [await placed({}), await placed({ region: "us" })];
  expect(fixed.error).toEqual(plain.error);
  expect(plain.error?.message).toContain("There is no tool");
  const prompt = await world.ask("prompts/get", { name: "box__greet" }, { set: "desk", user: "partly" });
  expect(prompt.error?.message).toContain("There is no prompt");
  expect(namesIn(await world.ask("prompts/list", {}, { set: "desk", user: "partly" }))).toEqual([]);
});

test("nothing that the policy of the host denies is in a set", () => {
  expect(calledTools(chest)).not.toContain("destroy");
});

test("a cursor of a set continues only that list of that set", async () => {
  const many = cabinet({ tools: Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`t${at}`, () => ""])) });
  const sets = new MemorySets({ one: { allow: ["many"] }, two: { allow: ["many"] } });
  await using large = await AccessWorld.open({ many }, { sets });
  const cursor = (await large.ask("tools/list", {}, { set: "one" })).result?.["nextCursor"];
  expect(typeof cursor).toBe("string");
  expect(namesIn(await large.ask("tools/list", { cursor }, { set: "one" }))).toHaveLength(100);
  for (const elsewhere of [{}, { set: "two" }, { server: "many" }]) {
    expect((await large.ask("tools/list", { cursor }, elsewhere)).error?.message).toContain("cursor is not valid");
  }
  const everywhere = (await large.ask("tools/list")).result?.["nextCursor"];
  expect((await large.ask("tools/list", { cursor: everywhere }, { set: "one" })).error).toBeDefined();
});
