import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkerFor } from "../check/checker.ts";
import { refusedExamples } from "./refused-examples.ts";
import { compileApi, type CompiledApi } from "../compile/compile.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import { servedTool } from "./served-tool.ts";

const HEAD = `
nexus: 1
api: stays
title: Stays
version: "1"
upstream: { base: "https://stays.example/" }
`;

function compiled(text: string): CompiledApi {
  const { file, problems } = readToolFile(text, "x.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  return compileApi(file, {}).api;
}

function stays(fields: string, more = "", rules = "[]"): CompiledApi {
  return compiled(`${HEAD}
types:
  Stay: { fields: ${fields}, rules: ${rules} }
tools:
  book:
    title: Book
    description: Books.
    effect: read
    input: Stay
    request: { method: POST, path: book, body: json }
    response: { as: none, text: Booked. }
    ${more}
`);
}

function examplesOf(api: CompiledApi, name: string): unknown[] {
  const { examples = [] } = servedTool(api, name).inputSchema;
  return examples as unknown[];
}

test("X2: every tool of the package offers a valid example", () => {
  for (const name of readdirSync("api")) {
    for (const withExamples of [true, false]) {
      const text = readFileSync(`api/${name}/${name}.nexus.yaml`, "utf8");
      const api = compiled(text);
      for (const tool of Object.values(api.file.tools)) if (!withExamples) tool.examples = [];
      for (const tool of Object.keys(api.tools)) {
        const examples = examplesOf(api, tool);
        expect(examples, `${name}.${tool}`).not.toEqual([]);
        const check = checkerFor(api.file, tool);
        for (const example of examples) expect(check(example).problems).toEqual([]);
      }
    }
  }
});

test("X2: examples of the file are offered, except those that the tool refuses", () => {
  const fields = `{ arrival: { type: date }, departure: { type: date } }`;
  const examples = `examples:
      - arguments: { arrival: "2026-05-02", departure: "2026-05-02" }
      - arguments: { arrival: "2026-05-02", departure: "2026-05-04" }`;
  const api = stays(fields, examples, `[{ that: departure > arrival, say: departure must be after arrival }]`);
  expect(examplesOf(api, "book")).toEqual([{ arrival: "2026-05-02", departure: "2026-05-04" }]);
  expect(api.tools["book"]?.inputSchema).not.toHaveProperty("examples");
  expect(refusedExamples(api)).toEqual([
    {
      path: "tools.book.examples.0.arguments",
      message: "the tool itself refuses this call, so it is not offered: departure must be after arrival",
      severity: "warning",
    },
  ]);
});

test("X2: without examples, a call is generated that matches patterns and rules", () => {
  const fields = `{ arrival: { type: date }, departure: { type: date }, country: { type: string, pattern: "^[A-Z]{2}$" },
    email: { type: string, optional: true }, phone: { type: string, optional: true }, note: { type: string, optional: true } }`;
  const rules = `[{ that: departure > arrival, say: no }, { that: email != null or phone != null, say: no }]`;
  const [example] = examplesOf(stays(fields, "", rules), "book") as Record<string, string>[];
  expect(example).toEqual(expect.objectContaining({ country: "AB", email: "example" }));
});

test("X2: an example that cannot be generated is not offered, and examples never make a definition too large", () => {
  expect(examplesOf(stays(`{ a: { type: integer } }`, "", `[{ that: a == 4242, say: no }]`), "book")).toEqual([]);
  const api = stays(`{ text: { type: string } }`, `examples: [{ arguments: { text: ${"x".repeat(13_000)} } }]`);
  expect(examplesOf(api, "book")).toEqual([]);
});
