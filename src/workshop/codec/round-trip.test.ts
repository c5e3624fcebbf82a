import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileOf } from "../../../test/fixtures/tool-file.ts";
import { codecFor } from "./codec-for.ts";
import { examples } from "../../../test/fixtures/depth.ts";

/** Everything that XML can hold: its control characters, and halves of characters, are not among it. */
const text = fc
  .string({ unit: "binary", maxLength: 20 })
  // oxlint-disable-next-line no-control-regex
  .map((each) => each.replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Cs}/gu, ""));
const someText = text.filter((each) => /\S/.test(each));
const collapsed = someText
  .map((each) => each.replace(/[ \t\r\n]+/g, " ").replace(/^ | $/g, ""))
  .filter((each) => each !== "");
const positive = (value: number) => (value === 0 ? 0 : value);
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map(positive);
const integer = fc.maxSafeInteger();
const amount = fc.integer({ min: -1_000_000_00, max: 1_000_000_00 }).map((cents) => positive(cents / 100));
const date = fc
  .date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true })
  .map((day) => day.toISOString().slice(0, 10));
const datetime = fc
  .tuple(date, fc.constantFrom("T00:00:00", "T23:59:59.4", "T12:30Z", "T12:30:00+02:00"))
  .map((parts) => parts.join(""));
const board = fc.constantFrom("breakfast", "no_meals");

const SCALARS = {
  text: { type: "string" },
  tidy: { type: "string", whitespace: "collapse" as const },
  whole: { type: "integer" },
  number: { type: "number" },
  amount: { type: "number", decimals: 2 },
  flag: { type: "boolean" },
  day: { type: "date" },
  moment: { type: "datetime" },
  there: { type: "presence" },
  board: { type: "string", codes: { 1: "breakfast", "0x": "no_meals" } },
  level: { type: "integer", codes: { 1: "breakfast", 4: "no_meals" } },
};
const values = {
  text,
  tidy: collapsed,
  whole: integer,
  number,
  amount,
  flag: fc.boolean(),
  day: date,
  moment: datetime,
  there: fc.boolean(),
  board,
  level: board,
};

type Name = keyof typeof SCALARS;
const names = Object.keys(SCALARS) as Name[];
const named = <T>(make: (name: Name) => T, prefix = "") =>
  Object.fromEntries(names.map((name) => [prefix + name, make(name)]));
/** Absent, or there; one that is not there cannot be told from one that is false. */
const optional = (name: Name) => (name === "there" ? fc.constant(true) : values[name]);
const record = (required: Record<string, fc.Arbitrary<unknown>>, maybe: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ ...required, ...maybe }, { requiredKeys: Object.keys(required), noNullPrototype: true });

const required = named((name) => values[name]);
const maybe = named(optional, "maybe_");

describe("an encoded value is decoded to the same value", () => {
  test("XML: every kind of value, as element and as attribute, in objects, lists, beside siblings of the same name", () => {
    const elements = {
      ...named((name) => SCALARS[name]),
      ...named((name) => ({ ...SCALARS[name], optional: true }), "maybe_"),
    };
    const attributes = named((name) => ({ ...SCALARS[name], wire: `x/@${name}`, optional: true }), "at_");
    const file = fileOf(
      {
        All: {
          xml: { element: "all", namespace: "urn:all" },
          fields: {
            ...elements,
            ...attributes,
            adults: { wire: "Counts/Count[@Code=10]/@n", type: "integer", optional: true },
            children: { wire: "Counts/Count[@Code=8][]", list: "Child", optional: true },
            other: { wire: "Counts/Count/@n", type: "integer", optional: true },
            texts: { wire: "texts/text[]", list: "string", keepEmpty: true },
            days: { wire: "p:day[]/@p:on", list: "date" },
            guest: { wire: "Counts/Guest", type: "Guest", optional: true },
            same: { wire: ".", type: "Same" },
            notes: { wire: "notes/note[]", list: "Note" },
            constant: { wire: "@constant", const: "1" },
          },
        },
        Child: { fields: { age: { wire: "@Age", type: "integer" }, name: { wire: "Name/First", optional: true } } },
        Guest: {
          fields: { name: { optional: true }, address: { wire: "Inner/Address", type: "Note", optional: true } },
        },
        Note: { fields: { code: { wire: "@code", optional: true }, words: { wire: ".", optional: true } } },
        Same: { fields: { first: { wire: "same/first" }, second: { wire: "same/second", type: "number" } } },
      },
      { p: "urn:p" },
    );
    const note = record({}, { code: text, words: someText });
    const value = record(
      {
        ...required,
        children: fc.array(record({ age: integer }, { name: text }), { maxLength: 3 }),
        texts: fc.array(text, { maxLength: 3 }),
        days: fc.array(date, { maxLength: 3 }),
        same: record({ first: text, second: number }, {}),
        notes: fc.array(note, { maxLength: 3 }),
        constant: fc.constant("1"),
      },
      {
        ...maybe,
        ...named(optional, "at_"),
        adults: integer,
        other: integer,
        guest: record({}, { name: text, address: note }),
      },
    );
    const codec = codecFor(file, "All", "xml");
    const check = (each: Record<string, unknown>) => {
      const xml = codec.encode(each);
      expect(codec.decode(xml)).toEqual({ value: each, deviations: [] });
      expect(codec.decode(Buffer.from(xml))).toEqual({ value: each, deviations: [] });
    };
    fc.assert(fc.property(value, check), { numRuns: examples(300) });
  });

  test("JSON: every kind of value, in objects, lists, and members of shared objects", () => {
    const file = fileOf({
      All: {
        fields: {
          ...named((name) => SCALARS[name]),
          ...named((name) => ({ ...SCALARS[name], optional: true, wire: `deep.er.${name}` }), "maybe_"),
          guest: { type: "Guest", optional: true },
          beside: { wire: "guest.beside", optional: true },
          texts: { list: "string" },
          names: { wire: "people[].name", list: "string" },
          guests: { wire: "deep.guests", list: "Guest", optional: true },
          constant: { const: 1, type: "integer", wire: "deep.constant" },
        },
      },
      Guest: { fields: { name: { optional: true }, days: { list: "date" }, inner: { type: "Guest", optional: true } } },
    });
    const leaf = record({ days: fc.array(date, { maxLength: 2 }) }, { name: text });
    const guest = record({ days: fc.array(date, { maxLength: 2 }) }, { name: text, inner: leaf });
    const value = record(
      {
        ...required,
        texts: fc.array(fc.string({ unit: "binary" })),
        names: fc.array(text, { maxLength: 3 }),
        guests: fc.array(guest, { maxLength: 3 }),
        constant: fc.constant(1),
      },
      maybe,
    ).chain((whole) =>
      fc.option(record({ guest }, { beside: text }), { nil: {} }).map((more) => ({ ...whole, ...more })),
    );
    const codec = codecFor(file, "All", "json");
    const check = (each: Record<string, unknown>) => {
      expect(codec.decode(codec.encode(each))).toEqual({ value: each, deviations: [] });
    };
    fc.assert(fc.property(value, check), { numRuns: examples(300) });
  });

  test("forms: every kind of value, objects by dots, lists of single values", () => {
    const file = fileOf({
      All: {
        fields: {
          ...named((name) => SCALARS[name]),
          ...named((name) => ({ ...SCALARS[name], optional: true }), "maybe_"),
          guest: { type: "Guest", optional: true },
          texts: { list: "string" },
          boards: { wire: "b.board", list: SCALARS.board },
        },
      },
      Guest: { fields: { name: {}, days: { list: "date" } } },
    });
    const value = record(
      { ...required, texts: fc.array(text, { maxLength: 3 }), boards: fc.array(board, { maxLength: 3 }) },
      { ...maybe, guest: record({ name: text, days: fc.array(date, { maxLength: 2 }) }, {}) },
    );
    const codec = codecFor(file, "All", "form");
    const check = (each: Record<string, unknown>) => {
      expect(codec.decode(codec.encode(each))).toEqual({ value: each, deviations: [] });
    };
    fc.assert(fc.property(value, check), { numRuns: examples(300) });
  });
});
