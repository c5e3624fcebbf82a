import { describe, expect, test } from "vitest";
import { isRecord } from "../../json/is-record.ts";
import { definitionPart } from "./search-tools.ts";

const maxBytes = 2_000;

/** Reads everything by following the cuts, as a caller does, and checks the size of each answer. */
function readAll(definition: unknown, path: string): unknown {
  const parts: unknown[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const answer = definitionPart(definition, { path, from, maxBytes });
    if (!answer) throw new Error(`There is nothing at ${path}`);
    expect(Buffer.byteLength(JSON.stringify(answer.part))).toBeLessThanOrEqual(maxBytes);
    parts.push(answer.part);
    from = answer.next;
  }
  const [first] = parts;
  if (typeof first === "string") return parts.join("");
  const whole = Array.isArray(first) ? parts.flat() : parts.length === 1 ? first : Object.assign({}, ...parts);
  return followed(definition, whole);
}

function followed(definition: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => followed(definition, item));
  if (!isRecord(value)) return value;
  if (typeof value["cut"] === "string") return readAll(definition, value["cut"]);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, followed(definition, member)]));
}

const field = (at: number) => ({ type: "string", description: `The field ${at}. ${"It is long. ".repeat(20)}` });
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f/${at}~`, field(at)]));

describe("all of a definition is reached in parts, each within the limit", () => {
  test.each([
    ["a small one", { inputSchema: { type: "object" } }],
    ["many types", { inputSchema: { properties: { a: field(1) }, $defs: { A: { properties: fields(30) } } } }],
    ["one type with very many fields", { inputSchema: { properties: fields(1_000) } }],
    ["deep nesting", { a: { b: { c: { d: { properties: fields(40), e: { f: fields(20) } } } } } }],
    ["a long list", { enum: Array.from({ length: 5_000 }, (_, at) => `value ${at}`) }],
    ["a long text", { description: "äß\u0001€".repeat(5_000) }],
  ])("%s", (_, definition) => {
    expect(readAll(definition, "")).toEqual(definition);
  });
});

test.each(["/no", "inputSchema", "/inputSchema/type/0/x", "/__proto__"])("there is nothing at %s", (path) => {
  expect(definitionPart({ inputSchema: { type: "object" } }, { path, maxBytes })).toBeUndefined();
});
