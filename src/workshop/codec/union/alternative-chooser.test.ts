import { expect, test } from "vitest";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import type { ScalarShape, Shape, UnionShape } from "../../file/model/tool-file.ts";
import { codecFor } from "../codec-for.ts";
import { AlternativeChooser } from "./alternative-chooser.ts";

const scalar = (type: ScalarShape["type"], more: Partial<ScalarShape> = {}): ScalarShape => ({
  kind: "scalar",
  type,
  whitespace: "keep",
  ...more,
});
const object = (type: string): Shape => ({ kind: "object", type });
const union = (...of: Shape[]): UnionShape => ({ kind: "union", of });
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

test("X5: a discriminator is looked up once, however many alternatives there are", () => {
  const names = Array.from({ length: 300 }, (_, index) => `T${index}`);
  const types = Object.fromEntries(
    names.map((name) => [name, { fields: { kind: {}, name: { wire: `${name}Name` } } }]),
  );
  let looked = 0;
  const values = Object.fromEntries(names.map((name) => [name.toLowerCase(), name]));
  const counted = new Proxy(values, { ownKeys: (target) => (looked++, Reflect.ownKeys(target)) });
  const by: UnionShape = { kind: "union", of: names.map(object), discriminator: { member: "kind", values: counted } };
  const chooser = new AlternativeChooser(fileOf(types).types, "names", "input");
  for (const name of names) {
    expect(chooser.choose(by, { kind: name.toLowerCase(), name: "a" })?.shape).toEqual(object(name));
  }
  expect(looked).toBe(1);
});

test("X5: unions that list each other end", () => {
  const types = {
    A: { fields: {}, union: union(object("B"), scalar("integer")) },
    B: { fields: {}, union: union(object("A")) },
  };
  const file = fileOf(types);
  const chooser = new AlternativeChooser(file.types, "wire", "output");
  expect(chooser.choose({ kind: "union", of: [object("A")] }, 1)?.shape).toEqual(scalar("integer"));
  expect(chooser.choose({ kind: "union", of: [object("A")] }, "text")).toBeUndefined();
});
