import { expect, test } from "vitest";
import type { ClientCapabilities, Question } from "./mcp.ts";
import { isDeclared, undeclared } from "./question-capabilities.ts";

const form: Question = { method: "elicitation/create", params: { message: "Name?" } };
const page: Question = { method: "elicitation/create", params: { mode: "url", url: "https://example.org" } };
const sample: Question = { method: "sampling/createMessage", params: { messages: [] } };
const sampleWithTools: Question = { method: "sampling/createMessage", params: { messages: [], tools: [] } };
const roots: Question = { method: "roots/list" };

test.each<[string, Question, ClientCapabilities, ClientCapabilities | undefined]>([
  ["a form needs elicitation", form, {}, { elicitation: { form: {} } }],
  ["elicitation without modes has forms", form, { elicitation: {} }, undefined],
  ["URLs alone are no forms", form, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  ["forms beside URLs are forms", form, { elicitation: { url: {}, form: {} } }, undefined],
  ["a page needs URLs", page, { elicitation: { form: {} } }, { elicitation: { url: {} } }],
  ["URLs are enough for a page", page, { elicitation: { url: {} } }, undefined],
  ["a model needs sampling", sample, {}, { sampling: {} }],
  ["sampling is enough without tools", sample, { sampling: {} }, undefined],
  ["tools need sampling with tools", sampleWithTools, { sampling: {} }, { sampling: { tools: {} } }],
  ["sampling with tools is enough for tools", sampleWithTools, { sampling: { tools: {} } }, undefined],
  ["roots need roots", roots, {}, { roots: {} }],
  ["roots are enough for roots", roots, { roots: {} }, undefined],
])("the capability of a question: %s", (_title, question, declared, missing) => {
  expect(isDeclared(question, declared)).toBe(missing === undefined);
  expect(undeclared({ question }, declared)).toEqual(missing);
});

test("several questions need the capabilities of all of them", () => {
  expect(undeclared({ form, page, sample, sampleWithTools, roots }, {})).toEqual({
    elicitation: { form: {}, url: {} },
    sampling: { tools: {} },
    roots: {},
  });
});

test("a question that MCP does not have is declared by nothing", () => {
  const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
  expect(isDeclared({ method: "something/else" }, everything)).toBe(false);
  expect(undeclared({ question: { method: "something/else" } }, {})).toBeUndefined();
});
