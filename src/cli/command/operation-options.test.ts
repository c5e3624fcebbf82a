import { expect, test } from "vitest";
import { flag, json, list, map, record, text } from "../../format/form.ts";
import { allOptionsOf } from "./operation-options.ts";

test("the members that one option can give are options in the words of their form, the required ones first", () => {
  const form = record({
    about: text().says("What it is for: `clients` get it.").option("TEXT").optional(),
    allow: list(text()).says("Patterns, at least one.").option("PATTERN", "what it contains"),
    readOnly: flag().says("Only what is read."),
    tools: map(json()).optional(),
  });
  expect(Object.entries(allOptionsOf(form))).toEqual([
    ["allow", { type: "string", multiple: true, value: "PATTERN", help: "what it contains; repeatable" }],
    ["about", { type: "string", value: "TEXT", help: "what it is for: clients get it" }],
    ["read-only", { type: "boolean", help: "only what is read" }],
  ]);
});
