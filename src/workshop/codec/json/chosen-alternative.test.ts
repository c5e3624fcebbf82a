import { expect, test } from "vitest";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import type { ScalarShape, Shape } from "../../file/model/tool-file.ts";
import { codecFor } from "../codec-for.ts";

const scalar = (type: ScalarShape["type"], more: Partial<ScalarShape> = {}): ScalarShape => ({
  kind: "scalar",
  type,
  whitespace: "keep",
  ...more,
});
const object = (type: string): Shape => ({ kind: "object", type });
const union = (...of: Shape[]): Shape => ({ kind: "union", of });
const ANY: Shape = { kind: "any" };
const BY_SPECIES: Shape = {
  kind: "union",
  of: [object("Cat"), object("Dog")],
  discriminator: { member: "species", values: { cat: "Cat", dog: "Dog" } },
};

const TYPES = {
  Cat: { fields: { species: {}, name: { wire: "catName" } } },
  Dog: { fields: { species: {}, name: { wire: "dogName" } } },
  Leaf: { fields: { name: { wire: "leafName" }, size: { type: "integer", optional: true } } },
  Tree: { fields: { name: { wire: "treeName" }, next: { shape: union(object("Tree"), object("Leaf")) } } },
};

function sent(shape: Shape, value: unknown): unknown {
  const codec = codecFor(fileOf({ ...TYPES, Root: { fields: { it: { shape } } } }), "Root", "json");
  const text = codec.encode({ it: value });
  expect(codec.decode(text)).toEqual({ value: { it: value }, deviations: [] });
  return (JSON.parse(text) as { it: unknown }).it;
}

test.each<[string, Shape, unknown, unknown]>([
  ["a text that is not a date is any value", union(union(ANY), scalar("date"), object("Cat")), "soon", "soon"],
  [
    "an object without a tag is the type that has none",
    union(BY_SPECIES, object("Leaf")),
    { name: "a" },
    { leafName: "a" },
  ],
  [
    "an object with a tag is the type that it names",
    union(object("Leaf"), BY_SPECIES),
    { species: "dog", name: "a" },
    { species: "dog", dogName: "a" },
  ],
  ["a name of a code is the code", union(scalar("string"), scalar("string", { codes: { 1: "one" } })), "one", "1"],
  ["a text outside of the limits is another one", union(scalar("string", { maxLength: 2 }), ANY), "long", "long"],
  [
    "a difference far inside decides",
    union(object("Tree"), ANY),
    { name: "a", next: { name: "b", next: { name: "c", next: { name: "d", next: { name: "e", size: 1 } } } } },
    {
      treeName: "a",
      next: { treeName: "b", next: { treeName: "c", next: { treeName: "d", next: { leafName: "e", size: 1 } } } },
    },
  ],
  ["null is a value where any value is one", { kind: "map", of: ANY }, { a: null }, { a: null }],
  ["null is an item where any value is one", { kind: "list", of: ANY, keepEmpty: false }, [null, 1], [null, 1]],
  ["null is any value of a field", ANY, null, null],
])("X5: of several alternatives, %s", (_, shape, value, wire) => {
  expect(sent(shape, value)).toEqual(wire);
});

test("X5: alternatives inside each other are looked at once, however deep they are", () => {
  let value: Record<string, unknown> = { name: "leaf", size: 1 };
  for (let depth = 0; depth < 40; depth++) value = { name: `tree ${depth}`, next: value };
  expect(JSON.stringify(sent(union(object("Tree"), object("Leaf")), value))).toContain('"leafName":"leaf"');
});
