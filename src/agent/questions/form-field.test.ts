import { expect, test } from "vitest";
import { fieldFacts, formFields, readField } from "./form-field.ts";

const fieldOf = (schema: object, required: string[] = []) => {
  const [field] = formFields({ type: "object", properties: { x: schema }, required });
  if (!field) throw new Error("no field");
  return field;
};
const problem = (text: string) => ({ problem: expect.stringContaining(text) as string });

test.each([
  ["text", { type: "string" }, ["42"], { value: "42" }],
  ["an integer", { type: "integer" }, ["42"], { value: 42 }],
  ["no integer", { type: "integer" }, ["4.2"], problem("integer")],
  ["a number out of range", { type: "number", minimum: 5 }, ["1"], problem("at least 5")],
  ["text that is too short", { type: "string", minLength: 3 }, ["ab"], problem("at least 3 characters")],
  ["yes", { type: "boolean" }, ["Y"], { value: true }],
  ["not yes or no", { type: "boolean" }, ["maybe"], problem("not yes or no")],
  ["a choice by its title", { type: "string", oneOf: [{ const: "a", title: "First" }] }, ["first"], { value: "a" }],
  ["a choice that is none", { type: "string", enum: ["a", "b"] }, ["c"], problem("not one of a, b")],
  ["several choices in one", { type: "array", items: { enum: ["a", "b", "c"] } }, ["a, c"], { value: ["a", "c"] }],
  ["a choice with a comma", { type: "array", items: { enum: ["a,b", "c"] } }, ["a,b"], { value: ["a,b"] }],
  ["too few choices", { type: "array", minItems: 2, items: { enum: ["a", "b"] } }, ["a"], problem("at least 2")],
  ["an e-mail address", { type: "string", format: "email" }, ["ada@example.com"], { value: "ada@example.com" }],
  ["not an email address", { type: "string", format: "email" }, ["ada"], problem("not an email address")],
  ["no date", { type: "string", format: "date" }, ["tomorrow"], problem("2026-07-28")],
  ["not a URI", { type: "string", format: "uri" }, ["somewhere"], problem("not a URI")],
])("reads %s", async (_what, schema, texts, expected) => {
  expect(await readField(fieldOf(schema), texts)).toEqual(expected);
});

test("a number selects a choice only if numbers were shown, and never instead of a value that is a number", async () => {
  const field = fieldOf({ type: "string", enum: ["2", "1"] });
  expect(await readField(field, ["2"], { numbered: true })).toEqual({ value: "2" });
  const words = fieldOf({ type: "string", enum: ["a", "b"] });
  expect(await readField(words, ["2"], { numbered: true })).toEqual({ value: "b" });
  expect(await readField(words, ["2"])).toEqual(problem("not one of"));
});

test("describes the expected value in a few words", () => {
  expect(fieldFacts(fieldOf({ type: "integer", minimum: 1, maximum: 9 }))).toBe("integer, 1 to 9; optional");
  expect(fieldFacts(fieldOf({ type: "string", format: "email" }, ["x"]))).toBe("email; required");
  expect(fieldFacts(fieldOf({ type: "boolean", default: true }))).toBe("yes or no; default: yes");
  expect(fieldFacts(fieldOf({ type: "array", items: { enum: ["a", "b"] } }))).toBe("any of a, b; optional");
});
