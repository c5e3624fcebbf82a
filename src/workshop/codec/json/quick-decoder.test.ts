import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import { examples } from "../../../../test/fixtures/depth.ts";
import type { ScalarShape } from "../../file/model/tool-file.ts";
import { Deviations, type Unknown } from "../record/deviations.ts";
import { Planner } from "../record/planner.ts";
import { codecFor } from "../codec-for.ts";
import { decodeJson } from "./decode-json.ts";
import { MEMBERS } from "./member-path.ts";
import { NOT_QUICK, QuickDecoder } from "./quick-decoder.ts";
import { valueCodec } from "./json-codec.ts";

const STRING: ScalarShape = { kind: "scalar", type: "string", whitespace: "keep" };
const INTEGER: ScalarShape = { kind: "scalar", type: "integer", whitespace: "keep" };

const file = fileOf({
  Item: {
    fields: {
      id: { type: "string" },
      count: { type: "integer", minimum: 0, optional: true },
      price: { type: "number", optional: true },
      day: { type: "date", optional: true },
      unit: { type: "string", enum: ["mm", "cm"], optional: true },
      tidy: { type: "string", whitespace: "collapse", optional: true },
      short: { type: "string", maxLength: 2, optional: true },
      kind: { type: "string", codes: { 1: "one", 2: "two" }, optional: true },
      tags: { list: "string", optional: true },
      some: { list: "integer", minItems: 1, optional: true },
      note: { type: "string", nullable: true, optional: true },
      parts: { list: "Item", optional: true },
      inner: { type: "Inner", optional: true },
      labels: { shape: { kind: "map", of: INTEGER }, optional: true },
      free: { shape: { kind: "any" }, optional: true },
      settings: { shape: { kind: "any", only: "object" }, optional: true },
      other: { type: "string", wire: "elsewhere", optional: true },
      secret: { type: "string", side: "input", wire: "hush", optional: true },
    },
  },
  Boxed: {
    fields: {
      id: { type: "string" },
      size: { wire: "box.size", type: "integer", optional: true },
      tags: { wire: "box.tags", list: "string", optional: true },
      next: { wire: "page.next", type: "string", nullable: true, optional: true },
      first: { wire: "page.first", type: "string" },
    },
  },
  Inner: { fields: { width: { type: "number" }, names: { list: "string" } }, additional: STRING },
});

const slowly = (json: unknown, unknown: Unknown, type = "Item") => {
  const found = new Deviations(unknown);
  const plan = new Planner(file, { ...MEMBERS, value: valueCodec }, "output").document(type);
  return { value: decodeJson(plan, json, found), deviations: found.all() };
};
const quickly = (json: unknown, unknown: Unknown, type = "Item") =>
  new QuickDecoder(file, unknown).decoderOf(type)?.(json);

const names = [
  ...Object.keys(file.types["Item"]?.fields ?? {}),
  "elsewhere",
  "hush",
  "more",
  "0",
  "__proto__",
  "width",
];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -0, 1, 2, 1.5, -3, "", "1", "mm", "a  b", "abc", "2026-05-02", {}, []),
  fc.string({ maxLength: 3 }),
);
const rights: Record<string, fc.Arbitrary<unknown>> = {
  id: fc.string({ maxLength: 3 }),
  count: fc.nat(),
  price: fc.constantFrom(1.5, -0, 3),
  day: fc.constantFrom("2026-05-02", " 2026-05-02"),
  unit: fc.constantFrom("mm", "cm"),
  kind: fc.constantFrom(1, "2"),
  tags: fc.array(fc.string({ maxLength: 2 }), { maxLength: 2 }),
  some: fc.array(fc.nat(), { maxLength: 2 }),
  free: fc.constantFrom(null, [null], { a: null }, 1),
  note: fc.constantFrom(null, "x"),
  labels: fc.dictionary(fc.constantFrom("a", "__proto__", "b"), fc.constantFrom(1, 2, null), { maxKeys: 2 }),
};
const { item } = fc.letrec<{ item: unknown; member: [string, unknown] }>((tie) => ({
  member: fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .constantFrom(...Object.keys(rights))
        .chain((name) => (rights[name] ?? leaf).map((value): [string, unknown] => [name, value])),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...names), leaf) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("parts"), fc.array(tie("item"), { maxLength: 2 })) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constant("inner"),
        fc.record(
          { width: fc.nat(), names: fc.constantFrom(["a"], null), x: fc.constantFrom("y", null) },
          { requiredKeys: ["width"] },
        ),
      ),
    },
  ),
  item: fc
    .tuple(fc.boolean(), fc.array(tie("member"), { maxLength: 6 }))
    .map(([isFirst, members]) =>
      Object.fromEntries<unknown>(isFirst ? [["id", "i"], ...members] : [...members, ["id", "i"]]),
    ),
}));

describe("QuickDecoder", () => {
  test("gives the same value in the same order as the complete decoder, and nothing where there are deviations", () => {
    let quick = 0;
    fc.assert(
      fc.property(item, fc.constantFrom<Unknown>("keep", "ignore", "report"), (given, unknown) => {
        const json: unknown = JSON.parse(JSON.stringify(given));
        const value = quickly(json, unknown);
        if (value === NOT_QUICK) return;
        quick++;
        const { value: slow, deviations } = slowly(json, unknown);
        expect(deviations).toEqual([]);
        expect(value).toStrictEqual(slow);
        expect(JSON.stringify(value)).toBe(JSON.stringify(slow));
      }),
      { numRuns: examples(1_000) },
    );
    expect(quick).toBeGreaterThan(100);
  });

  test("reads members of objects by their paths, as the complete decoder does", () => {
    const mostly = (arbitrary: fc.Arbitrary<unknown>) =>
      fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: leaf });
    const some = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] });
    const text = fc.string({ maxLength: 2 });
    const box = some({ more: leaf, tags: mostly(fc.array(text, { maxLength: 2 })), size: mostly(fc.nat()) });
    const page = some({ next: mostly(fc.constantFrom(null, "x")), first: mostly(text), more: leaf });
    const boxed = some({ more: leaf, page: mostly(page), box: mostly(box), id: mostly(text) });
    let quick = 0;
    fc.assert(
      fc.property(boxed, (given) => {
        const json: unknown = JSON.parse(JSON.stringify(given));
        const value = quickly(json, "ignore", "Boxed");
        if (value === NOT_QUICK) return;
        quick++;
        expect({ value, deviations: [] }).toStrictEqual(slowly(json, "ignore", "Boxed"));
        expect(JSON.stringify(value)).toBe(JSON.stringify(slowly(json, "ignore", "Boxed").value));
      }),
      { numRuns: examples(1_000) },
    );
    expect(quick).toBeGreaterThan(50);
    expect(quickly({ id: "i", page: { first: "1" } }, "report", "Boxed")).toBeUndefined();
  });

  test("returns an answer as it is if its members are in the order of the file", () => {
    const json = { id: "i", price: 1.5, tags: ["a"], some: [1], parts: [], inner: { width: 1, names: [] } };
    expect(quickly(json, "keep")).toBe(json);
  });

  test("leaves numbers that a double may not hold to the complete decoder", () => {
    for (const member of [`"price":9007199254740993`, `"free":[1e20]`, `"more":{"a":-9007199254740993}`]) {
      expect(quickly(JSON.parse(`{"id":"i",${member}}`), "keep")).toBe(NOT_QUICK);
    }
  });

  test("gives the document itself as the JSON of the value only if it would be written in the same way", () => {
    const codec = codecFor(file, "Inner", "json", { side: "output" });
    const document = `{"width":1.5,"names":["a"]}`;
    expect(codec.decode(document)).toEqual({ value: JSON.parse(document), deviations: [], json: document });
    for (const other of [
      `{"width":1.5, "names":["a"]}`,
      `{"width":2,"width":1.5,"names":["a"]}`,
      `{"width":1.50,"names":["a"]}`,
      String.raw`{"width":1.5,"names":["\u0061"]}`,
      `{"names":["a"],"width":1.5}`,
    ]) {
      expect(codec.decode(other).json).toBeUndefined();
    }
  });

  test("takes no longer for members in another order at every level", () => {
    let json: unknown = { parts: [], id: "i" };
    for (let depth = 0; depth < 18; depth++) json = { parts: [json], id: "i" };
    expect(quickly(json, "keep")).toStrictEqual(slowly(json, "keep").value);
  });

  test("leaves deeply nested and recursive types with unions to the complete decoder", () => {
    let json: unknown = { id: "i" };
    for (let depth = 0; depth < 60; depth++) json = { id: "i", parts: [json] };
    expect(quickly(json, "keep")).toBe(NOT_QUICK);
    const union = fileOf({
      A: { fields: { b: { type: "B", optional: true }, x: { shape: { kind: "union", of: [STRING, INTEGER] } } } },
      B: { fields: { a: { type: "A", optional: true } } },
    });
    const decoder = new QuickDecoder(union, "keep");
    expect(decoder.decoderOf("A")).toBeUndefined();
    expect(decoder.decoderOf("B")?.({ a: { x: 1 } })).toBe(NOT_QUICK);
  });
});
