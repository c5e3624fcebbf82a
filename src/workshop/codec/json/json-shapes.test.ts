import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { examples } from "../../../../test/fixtures/depth.ts";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import type { ScalarShape, Shape } from "../../file/model/tool-file.ts";
import { codecFor } from "../codec-for.ts";

const INTEGER: Shape = { kind: "scalar", type: "integer", whitespace: "keep" };
const scalar = (type: ScalarShape["type"], more: Partial<ScalarShape> = {}): ScalarShape => ({
  kind: "scalar",
  type,
  whitespace: "keep",
  ...more,
});
const object = (type: string): Shape => ({ kind: "object", type });
const list = (of: Shape): Shape => ({ kind: "list", of, keepEmpty: false });
const map = (of: Shape): Shape => ({ kind: "map", of });
const union = (...of: Shape[]): Shape => ({ kind: "union", of });
const ANY: Shape = { kind: "any" };

const file = fileOf({
  All: {
    fields: {
      labels: { shape: map(scalar("string")), optional: true },
      byName: { shape: map(object("Pet")), wire: "deep.byName", optional: true },
      anything: { shape: ANY, optional: true },
      settings: { shape: { kind: "any", only: "object" }, optional: true },
      matrix: { shape: list(list(scalar("number"))), optional: true },
      maybe: { nullable: true, optional: true },
      nothing: { nullable: true, type: "Pet", optional: true },
      perhaps: { nullable: true, shape: list(scalar("integer")), optional: true },
      idOrName: { shape: union(scalar("integer"), scalar("string")), optional: true },
      owner: {
        shape: {
          kind: "union",
          of: [object("Person"), object("Company")],
          discriminator: { member: "kind", values: { p: "Person", c: "Company" } },
        },
        optional: true,
      },
      animals: { shape: list(object("Animal")), optional: true },
      big: { type: "integer", exact: true, optional: true },
      amount: { type: "number", exact: true, optional: true },
      photo: { type: "binary", optional: true },
    },
    additional: scalar("integer"),
  },
  Pet: { fields: { id: { wire: "ID", type: "integer" }, name: { optional: true } } },
  Person: { fields: { sort: { wire: "kind" }, first: {}, friend: { type: "Person", optional: true } } },
  Company: { fields: { sort: { wire: "kind" }, first: {}, staff: { list: "Person" } } },
  Animal: { fields: {}, union: { kind: "union", of: [object("Cat"), object("Dog"), list(object("Animal"))] } },
  Cat: { fields: { meows: { type: "boolean" }, name: {} } },
  Dog: { fields: { barks: { type: "boolean" }, name: {}, tricks: { shape: list(scalar("string")), optional: true } } },
});
const codec = codecFor(file, "All", "json");
const decode = (value: unknown) => codec.decode(JSON.stringify(value));

describe("an encoded value of every shape is decoded to the same value", () => {
  const text = fc.string({ unit: "binary", maxLength: 8 });
  const name = text.filter((each) => each !== "__proto__");
  // Whole numbers beyond the exact range are text in free values, as everywhere without `exact`.
  const exactly = (_: string, member: unknown) =>
    typeof member === "number" && Math.abs(member) > Number.MAX_SAFE_INTEGER ? 0 : member;
  const anything = fc.jsonValue({ maxDepth: 3 }).map((each) => JSON.parse(JSON.stringify(each), exactly) as unknown);
  const whole = fc.maxSafeInteger().map((each) => each + 0);
  const pet = fc.record({ id: whole, name: text }, { requiredKeys: ["id"], noNullPrototype: true });
  const person = fc.record({ sort: fc.constant("p"), first: text }, { noNullPrototype: true });
  const company = fc.record({ sort: fc.constant("c"), first: text, staff: fc.array(person, { maxLength: 2 }) });
  const cat = fc.record({ meows: fc.boolean(), name: text }, { noNullPrototype: true });
  const dog = fc.record({ barks: fc.boolean(), name: text, tricks: fc.array(text, { maxLength: 2 }) });
  const animal = fc.oneof(cat, dog, fc.array(fc.oneof(cat, dog), { maxLength: 2 }));
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0);
  const dictionary = <T>(of: fc.Arbitrary<T>) => fc.dictionary(name, of, { maxKeys: 3, noNullPrototype: true });
  const big = fc.oneof(
    whole,
    fc
      .bigInt({ min: 2n ** 53n, max: 2n ** 63n })
      .filter((each) => String(Number(each)) !== String(each))
      .map(String),
  );
  const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{0,${most}}[1-9]$`));
  // All decimals that a double does not keep are text, the others numbers.
  const amount = fc.oneof(
    number,
    fc
      .tuple(
        fc.constantFrom("", "-"),
        fc.stringMatching(/^[1-9]\d{0,24}$|^0$/),
        digits(30),
        fc.constantFrom("", "e-9", "e30", "e400"),
      )
      .map(([sign, whole, fraction, exponent]) => `${sign}${whole}.${fraction}${exponent}`)
      .filter((text) => text.replace(/\D/g, "").length > 40 || text.endsWith("e400")),
    fc
      .tuple(digits(30), digits(20))
      .map(([a, b]) => `1${a}.5${b}`)
      .filter((text) => text.length > 24),
  );
  const value = fc.record(
    {
      labels: dictionary(text),
      byName: dictionary(pet),
      anything: anything.filter((each) => each !== null),
      settings: dictionary(anything),
      matrix: fc.array(fc.array(number, { maxLength: 3 }), { maxLength: 3 }),
      maybe: fc.option(text),
      nothing: fc.option(pet),
      perhaps: fc.option(fc.array(whole, { maxLength: 3 })),
      idOrName: fc.oneof(whole, text),
      owner: fc.oneof(person, company),
      animals: fc.array(animal, { maxLength: 3 }),
      big,
      amount,
      photo: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      extra: whole,
    },
    { requiredKeys: ["matrix", "perhaps", "animals"], noNullPrototype: true },
  );

  test("maps, any, unions, lists of lists, null, exact numbers, bytes and additional members", () => {
    const check = (each: Record<string, unknown>) => {
      expect(codec.decode(codec.encode(each))).toEqual({ value: each, deviations: [] });
    };
    fc.assert(fc.property(value, check), { numRuns: examples(300) });
  });
});

describe("shapes of JSON", () => {
  test("null is sent and shown where it is a value, and absent elsewhere", () => {
    expect(JSON.parse(codec.encode({ maybe: null, nothing: null, idOrName: null }))).toEqual({
      maybe: null,
      nothing: null,
    });
    expect(decode({ maybe: null, nothing: null, labels: null }).value).toMatchObject({ maybe: null, nothing: null });
    expect(decode({ labels: null }).value).not.toHaveProperty("labels");
  });

  test("names upstream inside of maps, lists and unions", () => {
    expect(JSON.parse(codec.encode({ byName: { a: { id: 1 } }, owner: { sort: "c", first: "x", staff: [] } }))).toEqual(
      {
        deep: { byName: { a: { ID: 1 } } },
        owner: { kind: "c", first: "x", staff: [] },
      },
    );
    expect(decode({ deep: { byName: { a: { ID: 1 } } } }).value).toMatchObject({ byName: { a: { id: 1 } } });
  });

  test("the discriminator decides, although another type fits better", () => {
    const { value, deviations } = decode({ owner: { kind: "p", first: "x", staff: [] } });
    expect(value).toMatchObject({ owner: { sort: "p", first: "x" } });
    expect(deviations).toEqual([{ path: "owner/staff", problem: "unknown member", received: "[]" }]);
  });

  test("a value that fits no type of a union is kept and reported", () => {
    expect(decode({ idOrName: [true], animals: [{ meows: true, name: "a" }, 5] })).toMatchObject({
      value: { idOrName: [true], animals: [{ meows: true, name: "a" }, 5] },
      deviations: [
        { path: "idOrName", problem: "expected integer or string", received: "[true]" },
        { path: "animals[1]", problem: "expected Cat or Dog or a list", received: "5" },
      ],
    });
  });

  test("text of digits stays text, and a number stays a number", () => {
    expect(decode({ idOrName: "5" }).value).toMatchObject({ idOrName: "5" });
    expect(codec.encode({ idOrName: "5" })).toBe(`{"idOrName":"5"}`);
    expect(codec.encode({ idOrName: 5 })).toBe(`{"idOrName":5}`);
  });

  test("large numbers are numbers upstream with all digits", () => {
    expect(codec.encode({ big: "9007199254740993" })).toBe(`{"big":9007199254740993}`);
    expect(codec.encode({ big: "12" })).toBe(`{"big":12}`);
    expect(codec.decode(`{"big":-9223372036854775808}`).value).toMatchObject({ big: "-9223372036854775808" });
    expect(codec.decode(`{"big":12}`).value).toMatchObject({ big: 12 });
    expect(() => codec.encode({ big: "1e3" })).toThrow("big expected a whole number");
  });

  test("bytes may be given as a data URL", () => {
    expect(codec.encode({ photo: "data:image/png;base64,AAEC" })).toBe(`{"photo":"AAEC"}`);
    expect(() => codec.encode({ photo: "not base64!" })).toThrow("photo expected base64 or a data URL");
  });

  test("members of a wrong kind are reported with their places", () => {
    expect(decode({ labels: { a: [1] }, matrix: [[1], ["x"]], settings: 1, extra: "x", byName: 1 }).deviations).toEqual(
      [
        { path: "labels.a", problem: "expected text", received: "[1]" },
        { path: "matrix[1][0]", problem: "expected a number", received: "x" },
        { path: "settings", problem: "expected an object", received: "1" },
        { path: "extra", problem: "expected a whole number", received: "x" },
        { path: "byName", problem: "has the name of a field that is written differently", received: "1" },
      ],
    );
    expect(() => codec.encode({ labels: { a: 1 } })).toThrow("labels.a expected text");
    expect(() => codec.encode({ matrix: [[1], ["x"]] })).toThrow("matrix[1][0] expected a number");
    expect(() => codec.encode({ deep: 1 })).toThrow("deep is the name that another field has upstream");
  });

  test("names that every object has are names like others, in maps and beside fields", () => {
    const body = `{"labels":{"__proto__":"a","constructor":"b"},"toString":1}`;
    const { value } = codec.decode(body);
    expect(Object.keys(value["labels"] as object)).toEqual(["__proto__", "constructor"]);
    expect(JSON.parse(codec.encode(value))).toMatchObject(JSON.parse(body) as object);
    expect(codec.encode(value)).toContain(`"__proto__":"a"`);
  });

  test("fields of one direction are not sent in the other", () => {
    const sided = fileOf({
      T: {
        fields: {
          id: { side: "output" },
          password: { side: "input" },
          name: {},
          when: { side: "output", optional: true },
        },
      },
    });
    const [input, output] = [
      codecFor(sided, "T", "json", { side: "input" }),
      codecFor(sided, "T", "json", { side: "output", unknown: "keep" }),
    ];
    expect(input.encode({ id: "1", password: "p", name: "n" })).toBe(`{"password":"p","name":"n"}`);
    expect(output.decode(`{"id":"1","password":"p","name":"n"}`)).toEqual({
      value: { id: "1", name: "n" },
      deviations: [],
    });
    expect(input.decode(`{"id":"1","password":"p","name":"n"}`).deviations).toMatchObject([
      { path: "id", problem: "unknown member" },
    ]);
  });

  test("a type that is a union can be a whole body", () => {
    const whole = codecFor(file, "Animal", "json");
    expect(whole.decode(whole.encode({ barks: true, name: "x", tricks: [] }))).toEqual({
      value: { barks: true, name: "x", tricks: [] },
      deviations: [],
    });
    expect(whole.decode("5")).toMatchObject({ value: {}, deviations: [{ problem: "expected Cat or Dog or a list" }] });
  });

  test("unions inside of unions cost no more than their size", () => {
    const nested = (depth: number): unknown => (depth === 0 ? { meows: true, name: "x" } : [nested(depth - 1)]);
    expect(decode({ animals: [nested(60)] }).deviations).toEqual([]);
  });

  test("XML and forms refuse what only JSON can express", () => {
    expect(() => codecFor(file, "All", "form")).toThrow(/types.All.fields.labels: a map can only be written as JSON/);
    expect(() => codecFor(file, "All", "xml")).toThrow(/labels: a map can only be written as JSON/);
  });
});

test.each([
  ["a list of single values", list(INTEGER), [1, null]],
  ["a list of lists", list(list(INTEGER)), [[1], null]],
])("X5: null in %s is reported and not left out silently", (_, shape, items) => {
  const codec = codecFor(fileOf({ Root: { fields: { items: { shape } } } }), "Root", "json");
  expect(codec.decode(JSON.stringify({ items })).deviations).toMatchObject([{ path: "items[1]" }]);
});
