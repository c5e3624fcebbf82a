import { expect, test } from "vitest";
import { stringify } from "yaml";
import { compileApi } from "../../compile/compile.ts";
import { readToolFile } from "../../file/read-tool-file.ts";
import { ApiRunner } from "../api-runner.ts";

const TYPES = {
  Nothing: { fields: {} },
  Note: { fields: { text: { type: "string", nullable: true } } },
  Input: { fields: { note: { type: "Note", optional: true } } },
  Result: {
    fields: {
      note: { type: "Note", optional: true },
      count: { type: "integer", optional: true },
      big: { type: "integer", exact: true, optional: true },
      tags: { list: "string" },
    },
  },
};

async function resultOf(give: Record<string, unknown>, args: Record<string, unknown> = {}) {
  const basics = { title: "T", description: "T.", effect: "read", input: "Nothing" };
  const step = { call: "look", when: "1 == 2", arguments: {} };
  const tools = {
    look: { ...basics, request: { method: "GET", path: "x" }, response: { as: "none", text: "Done." } },
    made: { ...basics, input: "Input", steps: { looked: step }, response: { type: "Result", give, text: "Done." } },
  };
  const upstream = { base: "https://api.example/" };
  const text = stringify({ nexus: 1, api: "x", title: "X", version: "1", upstream, types: TYPES, tools });
  const { file, problems } = readToolFile(text, "x.nexus.yaml");
  if (!file) expect.fail(JSON.stringify(problems));
  await using runner = new ApiRunner(compileApi(file, {}).api, { secrets: async () => undefined });
  return (await runner.call("made", args)).structuredContent;
}

test("a result of steps has null where its type allows it, and no value of another type", async () => {
  const note = { text: null };
  expect(await resultOf({ note: "= input.note" }, { note })).toEqual({ note, tags: [] });
  expect(await resultOf({ count: "= 1.5" })).toEqual({ tags: [] });
  expect(await resultOf({ count: "= 2", tags: ["a"] })).toEqual({ count: 2, tags: ["a"] });
});

test("an exact number stays in a result of steps as text, and other text does not", async () => {
  const big = "12345678901234567890";
  expect(await resultOf({ big })).toEqual({ big, tags: [] });
  expect(await resultOf({ big: "many" })).toEqual({ tags: [] });
});
