import { expect, test } from "vitest";
import { TOO_NESTED, tryCompileApi } from "../compile/compile.ts";
import { readToolFile } from "./read-tool-file.ts";

function fileWith({ types, tools = tool("look") }: { types: string; tools?: string }): string {
  return `nexus: 1
api: hostile
title: T
version: 1.0.0
upstream: { base: "https://hostile.example/" }
types:
${types}tools:
${tools}`;
}

function tool(name: string, more = ""): string {
  return `  ${name}:
    title: T
    description: D
    effect: read
    input: A
    request: { method: POST, path: "x", body: json }
    response: { as: json, type: A, text: ok }
${more}`;
}

const repeat = (count: number, line: (at: number) => string) => Array.from({ length: count }, (_, at) => line(at));
const errorsOf = (text: string) => readToolFile(text, "t").problems.filter(({ severity }) => severity === "error");

test("of a file with very many errors the first 1,000 are reported, and that there are more", () => {
  const fields = repeat(3_000, (at) => `      f${at}: { type: T${at} }\n`).join("");
  const errors = errorsOf(fileWith({ types: `  A:\n    fields:\n${fields}` }));
  expect(errors).toHaveLength(1_001);
  expect(errors.filter(({ message }) => message.startsWith("the rest was not checked"))).toEqual([
    expect.objectContaining({ message: "the rest was not checked: there are more than 1000 errors" }),
  ]);
});

test("types that include each other twice are refused before they have millions of rules", () => {
  const rules = `rules: [{ that: "true", say: x }], fields: { a: string }`;
  const types = repeat(60, (at) => `  T${at}: { ${at === 0 ? "" : `include: [T${at - 1}, T${at - 1}], `}${rules} }\n`);
  const [first] = errorsOf(fileWith({ types: `  A: { include: T59 }\n${types.join("")}` }));
  expect(first?.message).toBe("the types would have more than 200000 fields and rules with those that they include");
});

test("examples that are like the one before are refused before they have millions of members", () => {
  const examples = repeat(2_000, (at) => {
    const like = at === 0 ? "" : `like: e${at - 1}, `;
    return `      - { title: e${at}, ${like}arguments: { m: { b${at}: x } } }\n`;
  });
  const wide = `{ ${repeat(400, (at) => `w${at}: x`).join(", ")} }`;
  const first = `      - { title: e, arguments: ${wide} }\n      - { title: e0, like: e, arguments: { b: x } }\n`;
  const more = repeat(2_000, (at) => `      - { title: f${at}, like: e, arguments: { b: x } }\n`).join("");
  const text = fileWith({
    types: `  A: { additional: any }\n`,
    tools: tool("look", `    examples:\n${first}${more}${examples.slice(1).join("")}`),
  });
  expect(errorsOf(text)[0]?.message).toBe(
    "the examples and checks of a tool take over more than 100000 members of others",
  );
});

test("thousands of types inside each other are a problem of the file, not the end of the program", () => {
  const types = repeat(5_000, (at) => `  T${at}: { fields: { a: T${at + 1} } }\n`).join("");
  const text = fileWith({ types: `  A: { fields: { a: T0 } }\n${types}  T5000: { fields: { a: string } }\n` });
  const { file, problems } = readToolFile(text, "t");
  const found = file ? tryCompileApi(file, {}).problems : problems;
  expect(found.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([
    file ? TOO_NESTED.message : expect.stringContaining("nested too deeply"),
  ]);
});
