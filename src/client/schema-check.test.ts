import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Tool } from "../protocol/mcp.ts";
import { checkArguments, checkResult } from "./schema-check.ts";
import type { SchemaCheck } from "../schema/validator.ts";
import { examples, isFull } from "../../test/fixtures/depth.ts";

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

function tool(inputSchema: unknown, outputSchema?: Record<string, unknown>): Tool {
  return { name: "t", inputSchema: inputSchema as Tool["inputSchema"], ...(outputSchema ? { outputSchema } : {}) };
}

async function messages(schema: Record<string, unknown>, value: unknown): Promise<string[]> {
  const check = await checkArguments(tool(schema), value);
  if (check.kind === "unusable") throw new Error(check.reason);
  return check.kind === "valid" ? [] : check.problems.map(({ message }) => message);
}

async function reason(schema: unknown, value: unknown = {}): Promise<string> {
  const check = await checkArguments(tool(schema), value);
  return check.kind === "unusable" ? check.reason : `${check.kind}, though it should be unusable`;
}

const SEARCH = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 2 },
    unit: { enum: ["celsius", "fahrenheit"] },
    options: {
      type: "object",
      properties: { limit: { type: "integer", minimum: 1, maximum: 100 }, maxResults: { type: "integer" } },
    },
    tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, maxItems: 2, uniqueItems: true },
  },
  required: ["query"],
  additionalProperties: false,
};

describe("what is said to people", () => {
  test.each([
    [{ query: "ab" }, []],
    [{ query: "ab", unit: undefined }, []],
    [{ query: "ab", options: { limit: "5" } }, [`options.limit: expected integer, got string "5"`]],
    [{ query: "ab", options: { limit: 1.5 } }, ["options.limit: expected integer, got 1.5"]],
    [{ query: "ab", options: { limit: 0 } }, ["options.limit: expected at least 1, got 0"]],
    [
      { querry: "ab" },
      ["missing property query (string): is querry meant to be it?", "unknown property querry: did you mean query?"],
    ],
    [{ query: "ab", zzz: 1 }, ["unknown property zzz"]],
    [
      { query: "ab", unit: "celcius" },
      [`unit: expected "celsius" or "fahrenheit", got "celcius": did you mean "celsius"?`],
    ],
    [{ query: "a" }, [`query: expected at least 2 characters, got 1 ("a")`]],
    [{ query: "ab", tags: ["x", "Y!"] }, [`tags[1]: expected text that matches "^[a-z]+$", got "Y!"`]],
    [{ query: "ab", tags: ["x", "y", "x"] }, ["tags: expected at most 2 items, got 3", "tags: expected unique items"]],
    [[], ["expected object, got array"]],
    [null, ["expected object, got null"]],
  ])("%j", async (value, expected) => {
    expect(await messages(SEARCH, value)).toEqual(expected);
  });

  test("every problem is reported with a pointer to its place", async () => {
    const value = { query: 1, options: { limit: true }, "a/b~c": 1 };
    expect(await checkArguments(tool(SEARCH), value)).toEqual({
      kind: "invalid",
      problems: [
        { path: "/query", message: "query: expected string, got 1" },
        { path: "/options/limit", message: "options.limit: expected integer, got boolean true" },
        { path: "/a~1b~0c", message: "unknown property a/b~c" },
      ],
    });
  });

  test("an unknown name inside a value is reported with the known names", async () => {
    const rooms = { type: "array", items: { properties: { adults: {}, ages: {} }, additionalProperties: false } };
    const schema = { type: "object", properties: { rooms } };
    expect(await messages(schema, { rooms: [{ dogs: 1 }] })).toEqual([
      "unknown property rooms[0].dogs; rooms[0] accepts adults, ages",
    ]);
  });

  test("a name in another spelling is recognised", async () => {
    const closed = { ...SEARCH.properties.options, additionalProperties: false };
    expect(await messages(closed, { max_results: 1 })).toEqual([
      "unknown property max_results: did you mean maxResults?",
    ]);
  });

  test("alternatives of simple types are reported together", async () => {
    const schema = { properties: { id: { anyOf: [{ type: "string" }, { type: "null" }] } } };
    expect(await messages(schema, { id: 5 })).toEqual(["id: expected string or null, got 5"]);
  });

  test("titled choices are reported as choices", async () => {
    const schema = { properties: { size: { oneOf: [{ const: "s", title: "S" }, { const: "m" }, { const: "l" }] } } };
    expect(await messages(schema, { size: "x" })).toEqual([`size: expected one of "s", "m", "l", got "x"`]);
  });

  test("if a member distinguishes the alternatives, the intended one is explained", async () => {
    const shape = (kind: string, member: string) => ({
      type: "object",
      properties: { kind: { const: kind }, [member]: { type: "number" } },
      required: ["kind", member],
    });
    const schema = {
      $defs: { circle: shape("circle", "radius") },
      oneOf: [{ $ref: "#/$defs/circle" }, shape("square", "side")],
    };
    expect(await messages(schema, { kind: "circle", radius: "big" })).toEqual([
      `radius: expected number, got string "big"`,
    ]);
    expect(await messages(schema, { kind: "square" })).toEqual(["missing property side (number)"]);
    expect(await messages(schema, { kind: "oval" })).toEqual([
      expect.stringContaining("matches none of the 2 alternatives"),
    ]);
  });

  test("more than one match is too many for oneOf", async () => {
    const schema = { properties: { n: { oneOf: [{ type: "integer" }, { minimum: 3 }, { type: "string" }] } } };
    expect(await messages(schema, { n: 4 })).toEqual(["n: matches 2 of 3 alternatives, must match exactly one"]);
  });

  test("names of properties, items that must be there, dependencies and exclusions are explained", async () => {
    expect(await messages({ propertyNames: { maxLength: 3 } }, { long_name: 1 })).toEqual([
      `the name of long_name: expected at most 3 characters, got 9 ("long_name")`,
    ]);
    expect(await messages({ properties: { a: { contains: { const: 1 } } } }, { a: [2, 3] })).toEqual([
      'a: expected at least one item that matches "contains"',
    ]);
    expect(await messages({ dependentRequired: { card: ["name"] } }, { card: 1 })).toEqual([
      "missing property name, needed beside card",
    ]);
    expect(await messages({ properties: { a: { not: { type: "string" } } } }, { a: "x" })).toEqual([
      "a: is excluded by the schema",
    ]);
    // oxlint-disable-next-line unicorn/no-thenable
    expect(await messages({ if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 })).toEqual([
      "missing property b",
    ]);
  });
});

describe("dialects", () => {
  test("without $schema it is 2020-12", async () => {
    expect(
      await messages({ properties: { p: { prefixItems: [{ type: "string" }], items: false } } }, { p: [1, 2] }),
    ).toEqual(["p[0]: expected string, got 1", "p[1]: is not allowed"]);
    expect(
      await messages({ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1, b: 2 }),
    ).toEqual(["unknown property b"]);
  });

  test("draft-07 has its own keywords, and not those that came later", async () => {
    const schema = {
      $schema: DRAFT_07,
      properties: { p: { items: [{ type: "string" }], additionalItems: false } },
      dependencies: { id: ["name"], p: { required: ["q"] } },
      dependentRequired: { id: ["never"] },
      unevaluatedProperties: false,
    };
    expect(await messages(schema, { id: 1, p: ["a", "b"] })).toEqual([
      "missing property name, needed beside id",
      "missing property q",
      "p[1]: is not allowed",
    ]);
  });

  test("beside $ref nothing counts in draft-07, everything in 2020-12", async () => {
    const schema = { definitions: { any: {} }, properties: { a: { $ref: "#/definitions/any", type: "string" } } };
    expect(await messages({ ...schema, $schema: DRAFT_07 }, { a: 1 })).toEqual([]);
    expect(await messages(schema, { a: 1 })).toEqual(["a: expected string, got 1"]);
  });

  test.each([
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-04/schema#",
    "https://example.com/own",
    7,
  ])("%s is not supported, and that is said", async ($schema) => {
    expect(await reason({ $schema })).toContain("is not supported; 2020-12 and draft-07 are");
  });

  test("formats are annotations", async () => {
    const schema = { properties: { at: { format: "date-time" }, name: { minLength: 3 } } };
    expect(await messages(schema, { at: "now", name: "ab" })).toEqual([
      `name: expected at least 3 characters, got 2 ("ab")`,
    ]);
  });

  test("a pattern in another syntax, or an unknown type, makes the schema unusable", async () => {
    expect(await reason({ properties: { name: { pattern: "(?P<first>x)" } } }, { name: "ab" })).toContain(
      "/properties/name/pattern is not a valid JavaScript regular expression",
    );
    expect(await reason({ patternProperties: { "(": {} } }, {})).toContain(
      "/patternProperties is not a valid JavaScript regular",
    );
    expect(await reason({ properties: { name: { type: "text" } } }, { name: "ab" })).toContain(
      `/properties/name/type names a type "text"`,
    );
  });
});

describe("schemas that cannot be used", () => {
  test.each([
    ["external schemas are not loaded", { $ref: "https://example.com/schema.json" }],
    ["external schemas are not loaded", { properties: { a: { $ref: "other.json#/a" } } }],
    ["not part of it", { $ref: "#/$defs/nowhere" }],
    ["/$dynamicRef is not supported", { $dynamicRef: "#node" }],
    ["/properties/a/required must be a list of names", { properties: { a: { required: true } } }],
    ["/properties must be an object", { properties: [] }],
    ["/properties/a must be a schema", { properties: { a: "string" } }],
    ["refers to itself in an endless loop", { $ref: "#" }],
    ["mixes dialects", { $defs: { a: { $schema: DRAFT_07 } } }],
    ["larger than", { description: "x".repeat(2_000_000) }],
    ["not an object", undefined],
    ["not an object", "string"],
  ])("%s", async (words, schema) => {
    expect(await reason(schema)).toContain(words);
  });

  test("nesting is limited", async () => {
    let schema: Record<string, unknown> = { type: "string" };
    for (let depth = 0; depth < 100; depth++) schema = { properties: { a: schema } };
    expect(await reason(schema)).toContain("nested deeper than 64");
  });

  test("a value that is too large or too deep is unusable, not invalid", async () => {
    expect(await reason({}, { text: "x".repeat(11_000_000) })).toContain("the value is larger than");
    let value: unknown = 1;
    for (let depth = 0; depth < 300; depth++) value = [value];
    expect(await reason({}, value)).toContain("the value is nested deeper than 256");
  });

  test("a pattern that would run for years is stopped, and its schema is not tried again", async () => {
    const slow = { type: "object" as const, properties: { a: { pattern: "^(a+)+$" } } };
    const tool = { name: "slow", inputSchema: slow };
    const first = await checkArguments(tool, { a: `${"a".repeat(50)}!` });
    expect(first).toEqual({ kind: "unusable", isSlow: true, reason: expect.stringContaining("longer than 250 ms") });
    expect(await checkArguments(tool, { a: "a" })).toEqual(first);
  });

  // By the same clock, after seconds of work.
  test.runIf(isFull)("a web of references that would run for years is stopped", async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `d${n}`,
        { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    );
    expect(await reason({ $defs: { ...$defs, d60: {} }, $ref: "#/$defs/d0" })).toContain("took longer");
  });
});

test("references inside the schema are followed: pointers, anchors, ids, and recursion", async () => {
  const schema = {
    $id: "https://example.com/tree.json",
    $defs: {
      node: { $anchor: "node", properties: { name: { type: "string" }, children: { items: { $ref: "#node" } } } },
      leaf: { $id: "leaf.json", type: "integer" },
    },
    properties: { tree: { $ref: "#/$defs/node" }, leaf: { $ref: "https://example.com/leaf.json" } },
  };
  const value = { tree: { children: [{ children: [{ name: 1 }] }] }, leaf: "x" };
  expect(await messages(schema, value)).toEqual([
    "tree.children[0].children[0].name: expected string, got 1",
    `leaf: expected integer, got string "x"`,
  ]);
});

test("the server's schema is not changed, frozen or not, and examples in it have no effect", async () => {
  const example = Object.freeze({ id: "same", $ref: "https://example.com/" });
  const schema = Object.freeze({ type: "object", "x-first": example, "x-second": example, examples: [example] });
  const before = JSON.stringify(schema);
  expect(await checkArguments(tool(schema))).toEqual({ kind: "valid" });
  expect(JSON.stringify(schema)).toBe(before);
  expect(Object.getOwnPropertyNames(schema)).toEqual(Object.keys(schema));
});

test("a hundred thousand wrong items are still a wrong value, and fifty problems are enough", async () => {
  const many = await checkArguments(tool({ properties: { a: { items: { type: "string" } } } }), {
    a: Array.from({ length: 130_000 }, () => 1),
  });
  expect(many).toMatchObject({ kind: "invalid" });
  const some = await checkArguments(tool({ additionalProperties: { type: "string" } }), Array.from({ length: 5 }));
  expect(some).toMatchObject({ kind: "valid" });
  const wide = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`p${n}`, n]));
  const check = await checkArguments(tool({ additionalProperties: { type: "string" } }), wide);
  expect(check.kind === "invalid" && check.problems.length).toBe(50);
});

test("results are checked by their structured content", async () => {
  const adding = tool({}, { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] });
  const check = (result: object) => checkResult(adding, { content: [], ...result });
  expect(await check({ structuredContent: { sum: 5 } })).toEqual({ kind: "valid" });
  expect(await check({ structuredContent: { sum: "5" } })).toEqual({
    kind: "invalid",
    problems: [{ path: "/sum", message: `sum: expected number, got string "5"` }],
  });
  expect(await check({})).toMatchObject({ kind: "invalid", problems: [{ path: "" }] });
  expect(await check({ isError: true })).toEqual({ kind: "valid" });
  expect(await check({ resultType: "input_required" })).toEqual({ kind: "valid" });
  expect(await checkResult(tool({}), { content: [] })).toEqual({ kind: "valid" });
});

test("a value that cannot be written as JSON is invalid and does not throw", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  for (const value of [circle, { big: 1n }, () => {}]) {
    expect(await checkArguments(tool({}), value)).toMatchObject({ kind: "invalid" });
  }
});

/** Schemas from the inside out, with the names and shapes that trip validators up. */
const name = fc.constantFrom("a", "b", "id", "$ref", "properties", "__proto__", "constructor", "x/y", "~", "%41", "ü");
const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = tie("schema");
  const map = fc
    .array(fc.tuple(name, inner), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries) as unknown);
  return {
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.boolean(),
      fc.record({ type: fc.constantFrom("string", "integer", "object", "array", "null", ["number", "null"]) }),
      fc.record({ enum: fc.array(fc.jsonValue(), { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: fc.jsonValue() }),
      fc.record({ properties: map, required: fc.array(name), additionalProperties: inner }, { requiredKeys: [] }),
      fc.record({ properties: map, unevaluatedProperties: inner, propertyNames: inner }, { requiredKeys: [] }),
      fc.record(
        { items: inner, prefixItems: fc.array(inner, { maxLength: 2 }), contains: inner },
        { requiredKeys: [] },
      ),
      fc.record({ anyOf: fc.array(inner, { minLength: 1, maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }), not: inner }, { requiredKeys: ["oneOf"] }),
      // oxlint-disable-next-line unicorn/no-thenable
      fc.record({ if: inner, then: inner, else: inner }),
      fc.record({
        minLength: fc.nat(3),
        maxLength: fc.nat(5),
        pattern: fc.constantFrom("^a", "[ab]", "b$"),
        minimum: fc.nat(9),
      }),
    ),
  };
});
const value = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });

test("any schema and value have an outcome, and problems point into the value", async () => {
  await fc.assert(
    fc.asyncProperty(fc.record({ allOf: fc.tuple(anySchema) }), value, async (schema, args) => {
      const check = await checkArguments(tool(schema), args);
      expect(check.kind, (check as { reason?: string }).reason).not.toBe("unusable");
      for (const { path, message } of problemsOf(check)) {
        expect(message).not.toMatch(/undefined|\[object/);
        expect(path === "" || parentExists(args, path)).toBe(true);
      }
    }),
    { numRuns: examples(500), seed: 3 },
  );
});

test("any schema is used or refused, and never throws", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...KEYWORDS), fc.jsonValue()), value, async (schema, args) => {
      expect(["valid", "invalid", "unusable"]).toContain((await checkArguments(tool(schema), args)).kind);
    }),
    { numRuns: examples(500), seed: 3 },
  );
});

const KEYWORDS = [
  "$id",
  "$ref",
  "$schema",
  "$anchor",
  "type",
  "items",
  "properties",
  "required",
  "enum",
  "allOf",
  "not",
];

function problemsOf(check: SchemaCheck) {
  return check.kind === "invalid" ? check.problems : [];
}

/** A missing property is pointed at where it should be. */
function parentExists(root: unknown, path: string): boolean {
  const parts = path.split("/").slice(1, -1);
  let node = root;
  for (const part of parts) node = (node as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  return typeof node === "object" && node !== null;
}
