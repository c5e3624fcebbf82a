import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { readValue } from "../../format/read-form.ts";
import { parseSetDefinition, SET } from "./set-definition.ts";
import { MemorySets } from "./set-source.ts";

const tools = (items: object) => ({ allow: ["hub", "box.look"], tools: items });

test("a definition is kept as it is written, without members that say nothing", () => {
  const written = {
    description: "For the desk",
    allow: ["hub.search*", "box"],
    deny: ["box.destroy"],
    readOnly: false,
    pin: true,
    tools: { "hub.search.all": { name: "search", arguments: { repo: { owner: "acme" } } } },
    prompts: { "box.greet": { arguments: { tone: "warm" } } },
  };
  const { readOnly: _, ...kept } = written;
  expect(parseSetDefinition(written)).toEqual(kept);
  expect(parseSetDefinition({ allow: ["hub"], description: undefined, deny: undefined })).toEqual({ allow: ["hub"] });
});

test.each([
  [null, "A set is an object"],
  [{}, "allow is missing"],
  [{ allow: "hub" }, `"allow" must be a list, not text`],
  [{ allow: [] }, "The set would contain nothing"],
  [{ allow: ["Hub!"] }, `"Hub!" is not a valid pattern`],
  [{ allow: ["set:other"] }, `A set cannot contain another set: "set:other"`],
  [{ allow: ["hub"], redOnly: true }, `"redOnly" is not known here`],
  [{ allow: ["hub"], readOnly: "yes" }, `"readOnly" must be true or false`],
  [tools({ search: { name: "a" } }), `"search" is not the name of a tool`],
  [tools({ "hub.search": { nme: "a" } }), `"nme" is not known here in the tool "hub.search"`],
  [tools({ "hub.search": { name: "a b" } }), `"a b" is not a valid name for the tool "hub.search"`],
  [tools({ "hub.search": { name: "box__look" } }), `"box__look" looks like the name of another server's tool`],
  [tools({ "hub.search": { name: "future__look" } }), `"future__look" looks like the name of another server's tool`],
  [tools({ "hub.a": { name: "x" }, "hub.b": { name: "x" } }), `"hub.a" and "hub.b" would both be called "x"`],
  [tools({ "box.change": { name: "x" } }), `The tool "box.change" is not in the set`],
  [
    { allow: ["hub"], deny: ["hub.a*"], tools: { "hub.ab": {} } },
    `The tool "hub.ab" is not in the set: it is denied by "hub.a*"`,
  ],
  [tools({ "hub.search": { arguments: [] } }), `"arguments" of the tool "hub.search" must be an object`],
  [
    { allow: ["hub"], prompts: { "hub.greet": { arguments: { n: 1 } } } },
    `"arguments.n" of the prompt "hub.greet" must be text, not a number`,
  ],
])("what cannot be served as it says is refused (%#)", (written, message) => {
  expect(() => parseSetDefinition(written)).toThrow(message);
});

test("the advice for a prompt that is not in the set is a pattern that allows prompts", async () => {
  const definition = { allow: ["hub.greet"], prompts: { "hub.greet": { name: "hello" } } };
  const { message, details } = await failure(Promise.resolve().then(() => parseSetDefinition(definition)));
  expect(message).toBe(`The prompt "hub.greet" is not in the set`);
  expect(details.hint).toContain("--allow hub/prompts");
  expect(parseSetDefinition({ ...definition, allow: ["hub/prompts"] })).toBeDefined();
});

test("a source in memory replaces nothing if one definition is wrong", () => {
  const sets = new MemorySets({ desk: { allow: ["hub"] } });
  expect(() => sets.replace({ other: { allow: ["hub"] }, wrong: { allow: [] } })).toThrow("contain nothing");
  expect(() => sets.replace({ "Not a name": { allow: ["hub"] } })).toThrow("not a valid name");
  expect(sets.find("default", "desk")).toBeDefined();
  expect(sets.find("default", "other")).toBeUndefined();
  sets.replace({ desk: { allow: ["box"] } }, "shop");
  expect(sets.find("default", "desk")?.allow).toEqual(["hub"]);
  expect(sets.find("shop", "desk")?.allow).toEqual(["box"]);
});

test("all problems of a definition are known with their places, and limits of the network are for the network", () => {
  const { problems } = readValue(SET, { allow: ["Hub!", 7], tools: { "hub.x": { nme: "a" } }, pin: "yes" });
  expect(problems.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
    `/allow/0: "Hub!" is not a valid pattern`,
    "/allow/1: must be text, not a number",
    "/pin: must be true or false, not text",
    `/tools/hub.x/nme: "nme" is not known here`,
  ]);
  const large = { allow: [`hub.${"x".repeat(600)}`] };
  expect(readValue(SET, large).problems).toEqual([]);
  expect(readValue(SET, large, { network: true }).problems[0]?.message).toBe("must have at most 500 characters");
});
