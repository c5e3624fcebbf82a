import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { examples } from "../../../test/fixtures/depth.ts";
import { codecFor } from "../codec/codec-for.ts";
import { CompletedValues } from "../run/completed-values.ts";
import { fullInputSchema, fullOutputSchema } from "../compile/json-schema.ts";
import { fittedDefinition } from "../compile/tool-definition.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import type { FieldSpec, ToolFile } from "../file/model/tool-file.ts";
import { checkerFor } from "./checker.ts";
import { madeUpCall, madeUpValue } from "./made-up.ts";
import { ValueMaker } from "./made-up.ts";

type Part = Record<string, unknown>;

const scalar: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant("string"), minLength: fc.nat(3), maxLength: fc.integer({ min: 8, max: 20 }) }),
  fc.constantFrom<Part>(
    { type: "string" },
    { type: "string", format: "uuid" },
    { type: "string", pattern: "^[A-Z]{2}$" },
    { enum: ["red", "green"] },
    { codes: { 1: "one", 2: "two" } },
    { type: "boolean" },
    { type: "date" },
    { type: "datetime" },
    { type: "binary" },
    { type: "integer", exact: true },
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    { type: "number", minimum: 0, multipleOf: 0.5 },
    { type: "integer", exclusiveMinimum: 3, multipleOf: 4 },
    { type: "any" },
    { type: "object" },
    { type: "any", schema: { type: "array", items: { type: "integer" }, minItems: 2 } },
  ),
);

const { shape } = fc.letrec<{ shape: Part }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthIdentifier: "shape" },
    scalar,
    fc.constantFrom<Part>({ type: "Cat" }, { type: "Leaf" }, { type: "Either" }),
    fc.record({ list: tie("shape"), minItems: fc.nat(2) }),
    fc.record({
      list: fc.constant({ type: "integer", minimum: 1 }),
      minItems: fc.nat(3),
      uniqueItems: fc.constant(true),
    }),
    fc.record({ map: tie("shape"), minEntries: fc.nat(2) }),
    fc.record({ oneOf: fc.array(tie("shape"), { minLength: 1, maxLength: 3 }) }).map(withoutTwins),
    fc.constant<Part>({ oneOf: ["Cat", "Dog"], discriminator: { member: "kind", values: { c: "Cat", d: "Dog" } } }),
    fc.constant<Part>({ oneOf: ["Cat", "Dog"], discriminator: { member: "species" } }),
  ),
}));

/** A union names each type once. */
function withoutTwins({ oneOf }: { oneOf: Part[] }): Part {
  return { oneOf: oneOf.filter((part, index) => oneOf.findIndex(({ type }) => type === part["type"]) === index) };
}

/** Types are finite because fields that refer to types are optional, or lists and maps that may be empty. */
const field = fc
  .record({ shape, optional: fc.boolean(), nullable: fc.boolean(), side: fc.constantFrom("", "readOnly", "writeOnly") })
  .map(({ shape: form, optional, nullable, side }): Part => {
    const isEndless = /"(?:Cat|Dog|Either|Leaf)"/.test(JSON.stringify(form));
    const more = { ...(nullable ? { nullable } : {}), ...(side === "" ? {} : { [side]: true }) };
    const bounds = isEndless ? { ...form, ...("minItems" in form ? { minItems: 0 } : {}) } : form;
    return { ...bounds, optional: optional || isEndless, ...more };
  });

const fields = fc.array(field, { minLength: 1, maxLength: 4 }).map((each) => {
  return Object.fromEntries(each.map((part, index) => [`f${index}`, part]));
});

const types = fc
  .record({ Root: fields, Cat: fields, Dog: fields, Leaf: fields, additional: fc.option(shape, { nil: undefined }) })
  .map(({ Root, Cat, Dog, Leaf, additional }) => ({
    Root: { fields: { ...Root, either: { type: "Either", optional: true }, mode: { const: "fixed" } } },
    Cat: { fields: { kind: { const: "c" }, ...Cat } },
    Dog: { include: ["Leaf"], fields: { kind: { type: "string" }, ...Dog } },
    Leaf: { fields: Leaf, ...(additional ? { additional } : {}) },
    Either: { oneOf: ["Leaf", { type: "string", maxLength: 5 }] },
  }));

function fileWith(given: unknown): ToolFile {
  const tool = {
    title: "Try",
    description: "Tries all shapes.",
    effect: "read",
    input: "Root",
    request: { method: "POST", path: "x", body: "json" },
    response: { as: "json", type: "Root", text: "Done." },
  };
  const text = stringify(
    {
      nexus: 1,
      api: "random",
      title: "Random",
      version: "1",
      upstream: { base: "https://api.example/" },
      types: given,
      tools: { try: tool },
    },
    { aliasDuplicateObjects: false },
  );
  const { file, problems } = readToolFile(text, "random.nexus.yaml");
  const errors = problems.filter(({ severity }) => severity === "error");
  expect(errors).toEqual([]);
  return file ?? expect.fail("no file");
}

function accepting(schema: object): ReturnType<Ajv2020["compile"]> {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, validateFormats: false });
  return ajv.compile(schema);
}

test("X2, X6: schemas of random types are valid, and made-up values are valid for them and for the checker", () => {
  fc.assert(
    fc.property(types, (given) => {
      const file = fileWith(given);
      const spec = file.tools["try"] ?? expect.fail("no tool");
      const { tool } = fittedDefinition(file, "try", spec);
      expect(Buffer.byteLength(JSON.stringify(tool))).toBeLessThanOrEqual(12 * 1024);
      const inputs = [fullInputSchema(file, spec), tool.inputSchema].map(accepting);
      const outputs = [fullOutputSchema(file, spec), tool.outputSchema ?? {}].map(accepting);
      const check = checkerFor(file, "try");
      for (const all of [false, true]) {
        const call = madeUpCall(file, "Root", { from: 0, all });
        expect(check(call).problems, JSON.stringify(call)).toEqual([]);
        for (const accepts of inputs) expect(accepts(call), JSON.stringify([accepts.errors, call])).toBe(true);
      }
      const isGiven = ({ hidden }: FieldSpec) => !hidden;
      const answer = new ValueMaker(file, { side: "output", isGiven, single: (shape) => madeUpValue(shape) }).value(
        "Root",
      );
      for (const accepts of outputs) expect(accepts(answer), JSON.stringify([accepts.errors, answer])).toBe(true);
    }),
    { numRuns: examples(40) },
  );
});

/** Empty lists are the same as none; constants are written whether they are given or not. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name, member]) => {
    const isConstant = (name === "kind" && member === "c") || (name === "mode" && member === "fixed");
    return !isConstant && (!Array.isArray(member) || member.length > 0);
  });
  return Object.fromEntries(members.map(([name, member]) => [name, tidy(member)]));
}

function expectSameAfterSending(given: unknown): void {
  const file = fileWith(given);
  const values = new CompletedValues(file, "input");
  const check = checkerFor(file, "try");
  const requests = codecFor(file, "Root", "json", { side: "input" });
  const answers = codecFor(file, "Root", "json", { side: "output" });
  for (const all of [false, true]) {
    const call = madeUpCall(file, "Root", { from: 0, all });
    const sent = values.complete("Root", check(call).value, {});
    const { value, deviations } = requests.decode(requests.encode(sent));
    expect(deviations).toEqual([]);
    expect(tidy(value)).toEqual(tidy(sent));
  }
  const maker = new ValueMaker(file, { side: "output", isGiven: () => true, single: (each) => madeUpValue(each) });
  const answer = maker.value("Root");
  const { value, deviations } = answers.decode(answers.encode(answer));
  expect(deviations).toEqual([]);
  expect(tidy(value)).toEqual(tidy(answer));
}

test("X5: arguments and answers of random types are the same after they were sent as JSON", () => {
  fc.assert(fc.property(types, expectSameAfterSending), { numRuns: examples(40) });
});

const short = { type: "string", minLength: 0, maxLength: 8 };
const BY_SPECIES = { oneOf: ["Cat", "Dog"], discriminator: { member: "species" } };
const BY_KIND = { oneOf: ["Cat", "Dog"], discriminator: { member: "kind", values: { c: "Cat", d: "Dog" } } };
const EITHER = { oneOf: ["Leaf", { type: "string", maxLength: 5 }] };

test.each([
  [
    "a list deep inside of an answer needs an item, and a tag names its type in a union of unions",
    {
      Root: { fields: { f0: { oneOf: [BY_SPECIES, { type: "Either" }], optional: true } } },
      Cat: {
        fields: {
          kind: { const: "c" },
          f0: { list: { type: "Cat" }, minItems: 0, optional: true },
          f1: { map: { map: short, minEntries: 0 }, minEntries: 0 },
          f2: { list: { type: "integer", minimum: 1 }, minItems: 1, uniqueItems: true },
          f3: short,
        },
      },
      Dog: { include: ["Leaf"], fields: { kind: { type: "string" }, f0: { ...BY_SPECIES, optional: true } } },
      Leaf: { fields: { f0: { list: { map: { map: { type: "string" } } } } }, additional: { type: "Either" } },
      Either: EITHER,
    },
  ],
  [
    "a constant that only answers have tells their types apart",
    {
      Root: { fields: { either: { type: "Either", optional: true } } },
      Cat: { fields: { kind: { const: "c" }, f0: { ...BY_SPECIES, optional: true } } },
      Dog: { include: ["Leaf"], fields: { kind: { type: "string" }, f0: { list: { type: "integer" } } } },
      Leaf: { fields: { f0: { oneOf: [BY_KIND, { type: "Either" }], optional: true, readOnly: true } } },
      Either: EITHER,
    },
  ],
  [
    "a type of an answer lacks fields that only requests have",
    {
      Root: { fields: { either: { type: "Either", optional: true } } },
      Cat: {
        fields: {
          kind: { const: "c" },
          f0: { list: { type: "integer" }, writeOnly: true },
          f1: { type: "string", writeOnly: true },
          f2: {
            oneOf: [{ type: "Cat" }, { type: "Leaf" }, { list: { type: "integer" }, minItems: 1 }],
            optional: true,
          },
        },
      },
      Dog: { include: ["Leaf"], fields: { kind: { type: "string" }, f0: { ...BY_SPECIES, optional: true } } },
      Leaf: {
        fields: {
          f0: { ...short, writeOnly: true },
          f1: { type: "Cat", optional: true, readOnly: true },
          f2: { map: { list: { type: "integer" } }, writeOnly: true },
        },
        additional: short,
      },
      Either: EITHER,
    },
  ],
  [
    "another type of an answer has a member of this name only in requests",
    {
      Root: { fields: { f0: { oneOf: [BY_KIND, { type: "Either" }], optional: true } } },
      Cat: { fields: { kind: { const: "c" }, f0: { map: BY_SPECIES, optional: true } } },
      Dog: { include: ["Leaf"], fields: { kind: { type: "string" } } },
      Leaf: { fields: { f0: { list: { type: "integer" }, writeOnly: true } }, additional: short },
      Either: EITHER,
    },
  ],
])("X5: values are the same after they were sent as JSON if %s", (_, given) => {
  expectSameAfterSending(given);
});
