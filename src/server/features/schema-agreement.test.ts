import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { examples } from "../../../test/fixtures/depth.ts";
import { connect, MemoryTransport } from "../../index.ts";
import { SILENT } from "../../text/logger.ts";
import { serveMemory } from "../memory/serve-memory.ts";
import { McpServer } from "./mcp-server.ts";

// Names that every object inherits are left out: the judge takes them for members.
const NAMES = ["a", "b", "ab", "😀/~"];
const name = fc.constantFrom(...NAMES);
const text = fc.constantFrom("", "a", "b", "ab", "aab", "😀", "😀a", "abcabc");
const number = fc.constantFrom(-1, 0, 0.5, 1, 1.5, 2, 3, 6, 2e20);
const count = fc.constantFrom(0, 1, 2, 3);
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }) },
  ),
}));

const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");
const pattern = fc.constantFrom("^a", "b$", "^[ab]*$", "^.{1,2}$", "(a+)+b", "^(?:ab?)$");

/** Keywords of every kind; `schema` are the parts. Decimals are those that doubles have exactly: the judge divides. */
function keywords(schema: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  const parts = fc.array(schema, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true });
  const names = fc.uniqueArray(name, { maxLength: 2 });
  const groups = [
    { type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) },
    { enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (each) => JSON.stringify(each) }) },
    { const: value },
    { minimum: number, exclusiveMaximum: number },
    { maximum: number, exclusiveMinimum: number },
    { multipleOf: fc.constantFrom(0.5, 1, 2, 3) },
    { minLength: count, maxLength: count, pattern },
    { items: schema, prefixItems: parts },
    { minItems: count, maxItems: count, uniqueItems: fc.boolean() },
    { contains: schema, minContains: count, maxContains: count },
    { properties: map, required: names },
    { properties: map, additionalProperties: schema },
    {
      properties: map,
      patternProperties: fc.dictionary(pattern, schema, { maxKeys: 2, noNullPrototype: true }),
      additionalProperties: schema,
    },
    { propertyNames: schema, minProperties: count, maxProperties: count },
    { dependentRequired: fc.dictionary(name, names, { maxKeys: 2, noNullPrototype: true }), dependentSchemas: map },
    { allOf: parts },
    { anyOf: parts },
    { oneOf: parts },
    { not: schema },
    Object.fromEntries(["if", "then", "else"].map((keyword) => [keyword, schema])),
  ].map((group) =>
    fc.record(group as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [], noNullPrototype: true }),
  );
  const several = fc.array(fc.oneof(...groups), { minLength: 1, maxLength: 2 });
  return several.map((each) => {
    const { prefixItems, ...others } = Object.assign({}, ...each) as Record<string, unknown>;
    // With both, the judge takes an empty list for one that contains an item.
    return prefixItems === undefined || others["contains"] !== undefined ? others : { prefixItems, ...others };
  });
}

function schemas(leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof({ maxDepth: 3, depthSize: "small" }, leaf, keywords(tie("schema"))),
  })).schema;
}

const simple = fc.oneof(
  fc.boolean(),
  type.map((each) => ({ type: each })),
);
const defined = fc.constantFrom({ $ref: "#/$defs/one" }, { $ref: "#/$defs/two" });
const root = fc
  .tuple(keywords(schemas(fc.oneof(simple, defined))), schemas(simple), schemas(simple))
  .map(([own, one, two]) => ({ ...own, $defs: { one, two } }));

/** One for all schemas: it compiles the schema of schemas first, which takes longer than all else. */
const JUDGE = new Ajv2020({ strict: false, validateFormats: false, logger: false, addUsedSchema: false });

/** What the judge says; it refuses some schemas altogether. */
function judgeOf(schema: object): ((value: unknown) => boolean) | undefined {
  try {
    return JUDGE.compile(schema);
  } catch {
    return undefined;
  }
}

test("a handler is called exactly when its arguments match, and its result leaves exactly when it matches", async () => {
  const server = new McpServer({ name: "own", version: "1.0.0" });
  await using client = await connect(new MemoryTransport((end) => serveMemory(server, end, { logger: SILENT })));
  const args = fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true });
  const tried = { accepted: 0, refused: 0 };
  // Each run has two schemas and two values for each of them.
  const property = fc.asyncProperty(
    root,
    root,
    fc.array(fc.tuple(args, value), { minLength: 2, maxLength: 2 }),
    async (own, output, calls) => {
      const input = { ...own, type: "object" };
      const accepts = judgeOf(input);
      const lets = judgeOf(output);
      if (!accepts || !lets) return;
      let called = false;
      let returned: unknown;
      server.tool("plain", { input }, () => {
        called = true;
        return "called";
      });
      server.tool("described", { output }, () => returned);
      for (const [given, result] of calls) {
        called = false;
        await client.callTool("plain", given);
        expect(called, `${JSON.stringify(input)} of ${JSON.stringify(given)}`).toBe(accepts(given));
        returned = result;
        const left = await client.callTool("described").then(
          () => true,
          () => false,
        );
        expect(left, `${JSON.stringify(output)} of ${JSON.stringify(result)}`).toBe(lets(result));
        tried[called ? "accepted" : "refused"] += 1;
        tried[left ? "accepted" : "refused"] += 1;
      }
    },
  );
  await fc.assert(property, { numRuns: examples(2_500) });
  expect(Math.min(tried.accepted, tried.refused)).toBeGreaterThan(examples(1_000));
}, 600_000);
