import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { examples } from "../../../../test/fixtures/depth.ts";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import { filledPlaces } from "../../file/model/filled-template.ts";
import type { ParameterStyle, RequestSpec, RequestToolSpec, Shape, ToolFile } from "../../file/model/tool-file.ts";
import { decodePairs } from "./form-text.ts";
import { PartsReader } from "./parts-reader.ts";
import { requestPartsFor } from "./request-parts.ts";

const TEXT: Shape = { kind: "scalar", type: "string", whitespace: "keep" };
const NUMBER: Shape = { kind: "scalar", type: "integer", whitespace: "keep" };
const COLORS: Shape = { kind: "object", type: "Colors" };

function fileWith(request: Partial<RequestSpec>, shape: Shape): ToolFile {
  const file = fileOf({
    In: { fields: { color: { shape } } },
    Colors: { fields: { R: { type: "integer" }, G: { type: "integer" }, B: { type: "integer" } } },
    Filter: {
      fields: {
        name: { optional: true },
        tags: { list: "string", optional: true },
        inner: { type: "Colors", optional: true },
      },
    },
  });
  const spec = { input: "In", request: { method: "GET", path: "x", query: {}, headers: {}, ...request } };
  return { ...file, tools: { get: spec as unknown as RequestToolSpec } };
}

function write(request: Partial<RequestSpec>, shape: Shape, color: unknown) {
  return requestPartsFor(fileWith(request, shape), "get")({ color });
}

/** Writes and reads again, as the fake does. */
function around(request: Partial<RequestSpec>, shape: Shape, color: unknown) {
  const file = fileWith(request, shape);
  const { path, query, headers } = requestPartsFor(file, "get")({ color });
  const spec = file.tools["get"] as RequestToolSpec;
  const places = filledPlaces(spec.request.path, path) ?? [];
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return new PartsReader(file, spec).read({ path: places, query: decodePairs(query), headers: lower });
}

const LIST: Shape = { kind: "list", of: TEXT, keepEmpty: false };
const ARRAY = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };

describe("the table of styles in the OpenAPI specification", () => {
  test.each<[string, unknown, string]>([
    ["{;color}", "", ";color"],
    ["{;color}", "blue", ";color=blue"],
    ["{;color}", ARRAY, ";color=blue,black,brown"],
    ["{;color}", OBJECT, ";color=R,100,G,200,B,150"],
    ["{;color*}", "", ";color"],
    ["{;color*}", "blue", ";color=blue"],
    ["{;color*}", ARRAY, ";color=blue;color=black;color=brown"],
    ["{;color*}", OBJECT, ";R=100;G=200;B=150"],
    ["{.color}", "blue", ".blue"],
    ["{.color}", ARRAY, ".blue,black,brown"],
    ["{.color}", OBJECT, ".R,100,G,200,B,150"],
    ["{.color*}", "blue", ".blue"],
    ["{.color*}", ARRAY, ".blue.black.brown"],
    ["{.color*}", OBJECT, ".R=100.G=200.B=150"],
    ["{color}", "blue", "blue"],
    ["{color}", ARRAY, "blue,black,brown"],
    ["{color}", OBJECT, "R,100,G,200,B,150"],
    ["{color*}", ARRAY, "blue,black,brown"],
    ["{color*}", OBJECT, "R=100,G=200,B=150"],
  ])("path %s with %j is %s", (place, value, expected) => {
    const path = `a${place}`;
    expect(write({ path }, shapeOf(value), value).path).toBe(`a${expected}`);
    expect(around({ path }, shapeOf(value), value)).toEqual({ input: { color: value }, problems: [] });
  });

  test.each<[ParameterStyle, unknown, string]>([
    ["repeat", "", "color="],
    ["repeat", "blue", "color=blue"],
    ["repeat", ARRAY, "color=blue&color=black&color=brown"],
    ["members", OBJECT, "R=100&G=200&B=150"],
    ["comma", "", "color="],
    ["comma", ARRAY, "color=blue,black,brown"],
    ["pairs", OBJECT, "color=R,100,G,200,B,150"],
    ["space", ARRAY, "color=blue%20black%20brown"],
    ["pipe", ARRAY, "color=blue%7Cblack%7Cbrown"],
    ["tab", ARRAY, "color=blue%09black%09brown"],
    ["deep", OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
    ["json", OBJECT, "color=%7B%22R%22%3A100%2C%22G%22%3A200%2C%22B%22%3A150%7D"],
    ["json", ARRAY, "color=%5B%22blue%22%2C%22black%22%2C%22brown%22%5D"],
  ])("query in the style %s with %j is %s", (style, value, expected) => {
    const query = { color: { field: "color", style } };
    expect(write({ query }, shapeOf(value), value).query).toBe(expected);
    expect(around({ query }, shapeOf(value), value)).toEqual({ input: { color: value }, problems: [] });
  });

  test.each<[ParameterStyle, unknown, string]>([
    ["comma", "blue", "blue"],
    ["comma", ARRAY, "blue,black,brown"],
    ["pairs", OBJECT, "R,100,G,200,B,150"],
    ["members", OBJECT, "R=100,G=200,B=150"],
    ["json", { R: 1, G: 2, B: 3 }, `{"R":1,"G":2,"B":3}`],
    ["json", ["ü\n"], String.raw`["\u00fc\n"]`],
  ])("a header in the style %s with %j is %s", (style, value, expected) => {
    const headers = { "X-Color": { field: "color", style } };
    expect(write({ headers }, shapeOf(value), value).headers).toEqual({ "X-Color": expected });
    expect(around({ headers }, shapeOf(value), value)).toEqual({ input: { color: value }, problems: [] });
  });

  test.each<[ParameterStyle, unknown, string]>([
    ["repeat", "blue; a=b", "color=blue%3B%20a%3Db"],
    ["repeat", ARRAY, "color=blue; color=black; color=brown"],
    ["comma", ARRAY, "color=blue%2Cblack%2Cbrown"],
    ["members", OBJECT, "R=100; G=200; B=150"],
    ["pairs", OBJECT, "color=R%2C100%2CG%2C200%2CB%2C150"],
    ["json", [1], "color=%5B1%5D"],
  ])("cookies in the style %s with %j are %s", (style, value, expected) => {
    const cookies = { color: { field: "color", style } };
    expect(write({ cookies }, shapeOf(value), value).headers).toEqual({ cookie: expected });
    expect(around({ cookies }, shapeOf(value), value)).toEqual({ input: { color: value }, problems: [] });
  });
});

describe("what was written is read as the same value", () => {
  // Whole numbers beyond the exact range are text in free values.
  const exactly = (_: string, member: unknown) =>
    typeof member === "number" && Math.abs(member) > Number.MAX_SAFE_INTEGER ? 0 : member;
  const text = fc.string({ unit: "grapheme", maxLength: 8 });
  const without = (pattern: RegExp) => text.map((each) => each.replaceAll(pattern, "")).filter((each) => each !== "");
  const numbers = fc.record({ R: fc.integer(), G: fc.integer(), B: fc.integer() }, { noNullPrototype: true });
  const list = (of: fc.Arbitrary<unknown>) => fc.array(of, { minLength: 1, maxLength: 4 });
  // oxlint-disable-next-line no-control-regex
  const inPath = without(/[/\\,;.=\u0000-\u001f\u007f]/g);

  test.each<[string, Partial<RequestSpec>, Shape, fc.Arbitrary<unknown>]>([
    ...["{color}", "{.color}", "{;color}", "{.color*}", "{;color*}"].flatMap(
      (path): [string, Partial<RequestSpec>, Shape, fc.Arbitrary<unknown>][] => [
        [`${path} single`, { path: `a${path}` }, TEXT, inPath],
        [`${path} list`, { path: `a${path}` }, LIST, list(inPath)],
        [`${path} object`, { path: `a${path}` }, COLORS, numbers],
      ],
    ),
    ["repeat", { query: { c: { field: "color", style: "repeat" } } }, LIST, list(text)],
    ["comma", { query: { c: { field: "color", style: "comma" } } }, LIST, list(without(/,/g))],
    ["space", { query: { c: { field: "color", style: "space" } } }, LIST, list(without(/ /g))],
    ["pipe", { query: { c: { field: "color", style: "pipe" } } }, LIST, list(without(/\|/g))],
    ["tab", { query: { c: { field: "color", style: "tab" } } }, LIST, list(without(/\t/g))],
    ["deep list", { query: { c: { field: "color", style: "deep" } } }, LIST, list(text)],
    [
      "deep object",
      { query: { c: { field: "color", style: "deep" } } },
      { kind: "object", type: "Filter" },
      fc.record({ name: text, tags: list(text), inner: numbers }, { requiredKeys: ["name"], noNullPrototype: true }),
    ],
    [
      "members of a map",
      { query: { c: { field: "color", style: "members" }, other: { const: "1" } } },
      { kind: "map", of: TEXT },
      fc.dictionary(without(/^other$/g), text, { maxKeys: 3, noNullPrototype: true }),
    ],
    [
      "json",
      { query: { c: { field: "color", style: "json" } } },
      { kind: "any" },
      fc.jsonValue().map((each) => JSON.parse(JSON.stringify(each ?? 1), exactly) as unknown),
    ],
    ["cookies", { cookies: { c: { field: "color", style: "repeat" } } }, LIST, list(text)],
  ])("%s", (_, request, shape, values) => {
    const check = (value: unknown) => {
      expect(around(request, shape, value)).toEqual({ input: { color: value }, problems: [] });
    };
    fc.assert(fc.property(values, check), { numRuns: examples(60) });
  });
});

describe("a value never leaves its place", () => {
  test.each<[Partial<RequestSpec>, Shape, unknown, string]>([
    [{ query: { c: { field: "color", style: "space" } } }, LIST, ["a b"], "must not contain blanks"],
    [{ query: { c: { field: "color", style: "pipe" } } }, LIST, ["a|b"], "must not contain vertical bars"],
    [{ query: { c: { field: "color", style: "tab" } } }, LIST, ["a\tb"], "must not contain tabs"],
    [
      { query: { c: { field: "color", style: "pairs" } } },
      { kind: "map", of: TEXT },
      { "a,b": "1" },
      "must not contain commas",
    ],
    [
      { query: { c: { field: "color", style: "deep" } } },
      { kind: "map", of: TEXT },
      { "a]": "1" },
      "must not have brackets",
    ],
    [
      { query: { c: { field: "color", style: "members" }, v: { const: "2" } } },
      { kind: "map", of: TEXT },
      { v: "3" },
      'must not have the member "v": it is another parameter',
    ],
    [
      { headers: { "X-A": { field: "color", style: "members" } } },
      { kind: "map", of: TEXT },
      { "a=b": "1" },
      'must not contain "="',
    ],
    [{ headers: { "X-A": "color" } }, TEXT, "a\r\nX-B: 1", "contains characters that a header cannot hold"],
    [{ path: "a/{.color}/b" }, TEXT, ".", "must not make a step of dots"],
    [{ path: "a/{.color}" }, TEXT, "", "must not make a step of dots"],
    [{ path: "a{;color}" }, TEXT, "b;c=1", 'must not contain ";"'],
    [{ path: "a/{color}" }, LIST, ["a", "b/c"], "must not contain slashes"],
    [{ path: "a/{color}" }, LIST, ["a,b"], "must not contain commas"],
    [{ path: "a/{color}" }, LIST, [], "is missing, and the address needs it"],
  ])("%j refuses %j %j", (request, shape, value, message) => {
    expect(() => write(request, shape, value)).toThrow(message);
  });
});

test("constants and computed values need no argument", () => {
  const request: Partial<RequestSpec> = {
    query: { v: { const: "2" }, day: { value: "today()" }, none: { value: "input.missing" } },
    headers: { "X-Version": { const: "2022-06-28" }, "X-Tenant": { value: "settings.tenant" } },
    cookies: { a: { const: "x y" } },
  };
  const parts = requestPartsFor(fileWith(request, TEXT), "get");
  const scope = { today: () => "2026-11-16", settings: { tenant: "t1" }, input: {} };
  expect(parts({ color: "a" }, scope)).toEqual({
    path: "x",
    query: "v=2&day=2026-11-16",
    headers: { "X-Version": "2022-06-28", "X-Tenant": "t1", cookie: "a=x%20y" },
  });
});

test("what is not as the file says is a problem for the reader", () => {
  const file = fileWith({ query: { c: { field: "color", style: "repeat" }, v: { const: "2" } } }, NUMBER);
  const read = (query: string) =>
    new PartsReader(file, file.tools["get"] as RequestToolSpec).read({
      path: [],
      query: decodePairs(query),
      headers: {},
    });
  expect(read("c=1&v=2")).toEqual({ input: { color: 1 }, problems: [] });
  expect(read("c=x&v=3&w=1").problems).toEqual([
    "color: expected a whole number",
    'v: expected "2"',
    "w: unknown parameter",
  ]);
  expect(read("v=2").problems).toEqual(["color: missing"]);
  expect(read("c=1&c=2&v=2").problems).toEqual(["color: is given more than once"]);
});

test("a single value of several types keeps its type where the text allows it", () => {
  const shape: Shape = { kind: "union", of: [NUMBER, TEXT] };
  const query = { c: { field: "color", style: "repeat" as const } };
  expect(write({ query }, shape, 5).query).toBe("c=5");
  expect(around({ query }, shape, "x")).toEqual({ input: { color: "x" }, problems: [] });
  expect(() => write({ query }, shape, true)).toThrow("color fits none of its types");
});

function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return { kind: "list", of: typeof value[0] === "number" ? NUMBER : TEXT, keepEmpty: false };
  return typeof value === "object" ? COLORS : TEXT;
}
