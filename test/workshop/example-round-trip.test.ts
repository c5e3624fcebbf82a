import fc from "fast-check";
import { expect, test } from "vitest";
import { requestTools } from "../../src/workshop/file/model/request-tools.ts";
import { codecFor } from "../../src/workshop/codec/codec-for.ts";
import type { FieldSpec, ScalarShape, Shape, ToolFile } from "../../src/workshop/file/model/tool-file.ts";
import { exampleFile } from "../fixtures/workshop/example.ts";
import { examples } from "../fixtures/depth.ts";

const date = fc
  .date({ min: new Date("1900-01-01T00:00:00Z"), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true })
  .map((day) => day.toISOString());

function scalar(shape: ScalarShape): fc.Arbitrary<unknown> {
  if (shape.codes) return fc.constantFrom(...new Set(Object.values(shape.codes)));
  if (shape.enum) return fc.constantFrom(...shape.enum);
  const { minimum: min, maximum: max, decimals, minLength = 0, maxLength = 30, pattern } = shape;
  switch (shape.type) {
    case "integer":
      return fc.integer({ min: min ?? -(2 ** 31), max: max ?? 2 ** 31 });
    case "number":
      return fc.integer({ min: Math.ceil((min ?? -1e6) * 100), max: (max ?? 1e6) * 100 }).map((cents) => {
        const value = decimals === 0 ? Math.round(cents / 100) : cents / 100;
        return value === 0 ? 0 : value;
      });
    case "boolean":
    case "presence":
      return fc.boolean();
    case "date":
      return date.map((day) => day.slice(0, 10));
    case "datetime":
      return date.map((day) => day.slice(0, 19));
    case "binary":
      return fc.base64String();
    case "string":
      if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, "u"));
      return fc
        .string({ unit: "grapheme", minLength: minLength + 1, maxLength })
        .map((text) => (shape.whitespace === "collapse" ? text.replace(/\s+/g, "-") : text))
        .filter((text) => text.trim() !== "" && Array.from(text).length <= maxLength);
  }
}

function shaped(file: ToolFile, shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "scalar":
      return scalar(shape);
    case "object":
      return valueOf(file, shape.type);
    case "list":
      return fc.array(shaped(file, shape.of), {
        minLength: shape.minItems ?? 0,
        maxLength: Math.min(shape.maxItems ?? 3, 3),
      });
    case "map":
    case "union":
    case "any":
      throw new Error(`no example has a ${shape.kind}`);
  }
}

function field(file: ToolFile, spec: FieldSpec): fc.Arbitrary<unknown> {
  if (spec.const !== undefined) return fc.constant(spec.const);
  const { shape, optional } = spec;
  // Lists are always there after reading; what is not there cannot be told from what is false.
  if (!optional || shape.kind === "list") return shaped(file, shape);
  if (shape.kind === "scalar" && shape.type === "presence") return fc.constantFrom(true, undefined);
  return fc.option(shaped(file, shape), { nil: undefined });
}

/** Values of a type as upstream has them: with constants, without what is not sent. */
function valueOf(file: ToolFile, type: string): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(file.types[type]?.fields ?? {});
  const sent = fields.filter(([, { wire, const: constant }]) => wire !== false || constant !== undefined);
  return fc
    .record(Object.fromEntries(sent.map(([name, spec]) => [name, field(file, spec)])), { noNullPrototype: true })
    .map((value) => Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)));
}

test.each(["capcorn", "museum"])(
  "what a type of %s encodes, it decodes to the same value, for every type (X6)",
  async (name) => {
    const file = await exampleFile(name);
    for (const [, { input, request, response }] of requestTools(file)) {
      const bodies = [
        ...(request.body === "xml" || request.body === "json" || request.body === "form"
          ? [{ type: input, as: request.body }]
          : []),
        ...(response.type !== undefined && (response.as === "xml" || response.as === "json")
          ? [{ type: response.type, as: response.as }]
          : []),
      ];
      for (const { type, as } of bodies) {
        const codec = codecFor(file, type, as);
        const check = (value: Record<string, unknown>) => {
          expect(codec.decode(codec.encode(value))).toEqual({ value, deviations: [] });
        };
        fc.assert(fc.property(valueOf(file, type), check), { numRuns: examples(100) });
      }
    }
  },
);
