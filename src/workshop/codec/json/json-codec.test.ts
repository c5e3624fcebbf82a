import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../../test/fixtures/cpu-time.ts";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import { codecFor } from "../codec-for.ts";

const file = fileOf({
  Page: {
    fields: {
      items: { wire: "data.items", list: "Item" },
      next: { wire: "page.next", type: "integer", optional: true },
      kind: { const: "list", optional: true },
      error: { type: "Problem", optional: true },
    },
  },
  Item: {
    fields: {
      id: {},
      price: { wire: "price.adult", type: "number" },
      level: { type: "integer", codes: { 1: "low", 2: "high" }, optional: true },
      tags: { list: { type: "string", maxLength: 3 }, optional: true },
      on: { type: "date", optional: true },
    },
  },
  Problem: { fields: { code: {}, message: { optional: true } } },
  List: { fields: { all: { wire: ".", list: "Item" } } },
});
const codec = codecFor(file, "Page", "json");
const decode = (value: unknown) => codec.decode(JSON.stringify(value));

describe("JSON", () => {
  test("members by path, codes as numbers, null as absent, amounts as text", () => {
    expect(
      decode({
        data: { items: [{ id: "028", price: { adult: "6.50" }, level: 2, tags: null }] },
        page: { next: null },
        kind: "list",
        error: null,
      }),
    ).toEqual({ value: { items: [{ id: "028", price: 6.5, level: "high", tags: [] }], kind: "list" }, deviations: [] });
    expect(JSON.parse(codec.encode({ items: [{ id: "a", price: 1, level: "low" }], next: 2 }))).toEqual({
      data: { items: [{ id: "a", price: { adult: 1 }, level: 1 }] },
      page: { next: 2 },
      kind: "list",
    });
  });

  const item = { id: "a", price: { adult: 1 } };
  test.each([
    [{ ...item, id: 2.5 }, "items[0].id", "expected text", "2.5"],
    [{ ...item, id: true }, "items[0].id", "expected text", "true"],
    [{ ...item, price: 5 }, "items[0]/price", "expected an object", "5"],
    [{ ...item, price: { adult: "x" } }, "items[0].price", "expected a number", "x"],
    [{ ...item, extra: { a: 1 } }, "items[0]/extra", "unknown member", `{"a":1}`],
    [{ ...item, price: { adult: 1, child: 2 } }, "items[0]/price/child", "unknown member", "2"],
    [{ ...item, level: 3 }, "items[0].level", "expected one of the codes 1, 2", "3"],
    [{ ...item, tags: "x" }, "items[0].tags", "expected a list", "x"],
    [{ ...item, tags: ["long"] }, "items[0].tags[0]", "expected at most 3 characters", "long"],
    [{ ...item, on: "2025-02-30" }, "items[0].on", "expected a date (YYYY-MM-DD)", "2025-02-30"],
    ["x", "items[0]", "expected an object", "x"],
    [null, "items[0]", "expected an object", "null"],
    [{ ...item, tags: [[1]] }, "items[0].tags[0]", "expected text", "[1]"],
  ])("what is not as declared is told and left out: %j", (each, path, problem, received) => {
    const { deviations } = decode({ data: { items: [each] }, kind: "list" });
    expect(deviations[0]).toEqual({ path, problem, received });
    expect(deviations.slice(1)).toEqual(
      path.endsWith("/price") ? [{ path: "items[0].price", problem: "missing" }] : [],
    );
  });

  test("a missing object is reported once; an answer that is not an object is reported", () => {
    expect(decode({ data: { items: [] }, error: "no" }).deviations).toEqual([
      { path: "error", problem: "expected an object", received: "no" },
    ]);
    expect(decode([1])).toEqual({
      value: { items: [], kind: "list" },
      deviations: [{ path: "", problem: "expected an object", received: "[1]" }],
    });
  });

  test("the whole answer may be a list", () => {
    const list = codecFor(file, "List", "json");
    const value = { all: [{ id: "a", price: 1, tags: [] }] };
    expect(JSON.parse(list.encode(value))).toEqual([{ id: "a", price: { adult: 1 }, tags: [] }]);
    expect(list.decode(list.encode(value))).toEqual({ value, deviations: [] });
    expect(list.decode("{}")).toEqual({
      value: { all: [] },
      deviations: [{ path: "all", problem: "expected a list", received: "{}" }],
    });
  });

  test("names that every object has are normal names", () => {
    const odd = fileOf({
      Odd: { fields: { constructor: { optional: true }, it: { wire: "__proto__.x", optional: true } } },
    });
    const codec = codecFor(odd, "Odd", "json");
    expect(codec.encode({})).toBe("{}");
    expect(codec.encode({ it: "a" })).toBe(`{"__proto__":{"x":"a"}}`);
    expect(codec.decode(`{"__proto__":{"x":"a"},"toString":1}`)).toEqual({
      value: { it: "a" },
      deviations: [{ path: "toString", problem: "unknown member", received: "1" }],
    });
  });

  test.each([
    ["", "The JSON cannot be read"],
    ["<html>", "The JSON cannot be read"],
    [Buffer.from([0x22, 0xff, 0x22]), "its bytes are not UTF-8"],
    [`{"unknown":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "it is nested too deep"],
  ])("what is no JSON is not read: %s", (body, message) => {
    expect(() => codec.decode(body)).toThrow(
      expect.objectContaining({ code: "PROTOCOL_VIOLATION", message: expect.stringContaining(message) }),
    );
  });

  test("a number that is too large is reported as such", () => {
    const { deviations } = codec.decode(`{"data":{"items":[]},"kind":"list","page":{"next":1e400}}`);
    expect(deviations).toEqual([{ path: "next", problem: "expected a whole number", received: "1e400" }]);
  });

  test("members that the type does not name are reported, ignored or kept, beside the fields they belong to", () => {
    const answer = {
      data: { items: [{ ...item, extra: { a: [1] }, price: { adult: 1, child: 2 } }], total: 1 },
      kind: "list",
      next: "not the field of this name",
      __proto: 1,
    };
    const items = [{ id: "a", price: 1, tags: [] }];
    const read = (unknown: "keep" | "ignore") =>
      codecFor(file, "Page", "json", { unknown }).decode(JSON.stringify(answer));
    expect(decode(answer).deviations.map(({ path }) => path)).toEqual([
      "items[0]/price/child",
      "items[0]/extra",
      "data/total",
      "next",
      "__proto",
    ]);
    expect(read("ignore")).toEqual({ value: { items, kind: "list" }, deviations: [] });
    expect(read("keep")).toEqual({
      value: {
        items: [{ ...items[0], extra: { a: [1] }, "price.child": 2 }],
        kind: "list",
        "data.total": 1,
        __proto: 1,
      },
      deviations: [{ path: "next", problem: "unknown member", received: "not the field of this name" }],
    });
  });

  test("whole numbers that a double cannot hold are exact: text if the type is text, reported in full otherwise", () => {
    const long = codecFor(
      fileOf({
        L: {
          fields: {
            id: { optional: true },
            count: { type: "integer", optional: true },
            size: { type: "number", optional: true },
          },
        },
      }),
      "L",
      "json",
      { unknown: "keep" },
    );
    const big = "9007199254740993";
    expect(long.decode(`{"id":${big}}`)).toEqual({ value: { id: big }, deviations: [] });
    expect(long.decode(`{"id":"\\u0001${big}","a":{"b":[-${big}]}}`)).toEqual({
      value: { id: `\u0001${big}`, a: { b: [`-${big}`] } },
      deviations: [],
    });
    const problem = "is too large to be an exact number; as type: string it would be text";
    for (const field of ["count", "size"]) {
      for (const written of [big, `"${big}"`]) {
        expect(long.decode(`{"${field}":${written}}`)).toEqual({
          value: {},
          deviations: [{ path: field, problem, received: big }],
        });
      }
    }
    expect(long.decode(`{"size":100000000000000000000}`).value).toEqual({ size: 1e20 });
    const xml = codecFor(fileOf({ L: { xml: { element: "l" }, fields: { size: { type: "number" } } } }), "L", "xml");
    expect(xml.decode(`<l><size>${big}</size></l>`).deviations).toEqual([{ path: "size", problem, received: big }]);
  });

  test("decimals that a double cannot hold are exact: text if the type is exact, reported in full otherwise", () => {
    const fields: Parameters<typeof fileOf>[0][string]["fields"] = {
      price: { type: "number", exact: true, optional: true },
      size: { type: "number", optional: true },
      free: { shape: { kind: "any" }, optional: true },
      labels: { shape: { kind: "map", of: { kind: "any" } }, optional: true },
    };
    const problem = "has too many digits to be an exact number; with exact: true it would be text";
    const texts = ["12345678901234567.89", "-98765432109876543.21", "1.2345678901234567891e30"];
    for (const side of ["input", "output"] as const) {
      const codec = codecFor(fileOf({ L: { fields } }), "L", "json", { side });
      for (const text of texts) {
        const exact = { value: { price: text, free: [text, 1.5] }, deviations: [] };
        expect(codec.decode(`{"price":${text},"free":[${text},1.5]}`)).toMatchObject(exact);
        expect(codec.encode({ price: text, size: 1.5 })).toBe(`{"price":${text},"size":1.5}`);
        for (const written of [text, `"${text}"`]) {
          const deviations = [{ path: "size", problem, received: text }];
          expect(codec.decode(`{"size":${written}}`)).toMatchObject({ value: {}, deviations });
        }
        const notObject = [{ path: "labels", problem: "expected an object", received: text }];
        expect(codec.decode(`{"labels":${text}}`)).toMatchObject({ value: {}, deviations: notObject });
      }
      // Behind the point a plain number is rounded, as every reader of JSON does.
      for (const text of ["-0.12345678901234567891", "3.3333333333333333", "1.2345678901234567891e-30"]) {
        expect(codec.decode(`{"price":${text},"size":${text},"free":[${text}]}`)).toEqual({
          value: { price: text, size: Number(text), free: [Number(text)] },
          deviations: [],
        });
        expect(codec.encode({ price: text })).toBe(`{"price":${text}}`);
      }
      // Some servers write doubles with more digits than they need.
      expect(codec.decode(`{"size":0.10000000000000001,"free":48.208174300000003}`).value).toEqual({
        size: 0.1,
        free: 48.2081743,
      });
      expect(codec.decode(`{"price":0.10000000000000001}`).value).toEqual({ price: "0.10000000000000001" });
      expect(codec.decode(`{"price":0.30000000000000004,"size":2.50000000000000000000}`).value).toEqual({
        price: 0.30000000000000004,
        size: 2.5,
      });
      expect(codec.encode({ price: "+.12345678901234567891" })).toBe(`{"price":0.12345678901234567891}`);
    }
  });

  test("a number with a million digits takes little time to read", async () => {
    const codec = codecFor(fileOf({ L: { fields: { price: { type: "number", exact: true } } } }), "L", "json");
    const long = `1${"0".repeat(1_000_000)}.${"0".repeat(1_000_000)}1`;
    const spent = await cpuMsOf(() => expect(codec.decode(`{"price":${long}}`).value).toEqual({ price: long }));
    expect(spent).toBeLessThan(5_000);
  });

  test("control characters beside a big number take no longer to read than others", async () => {
    const codec = codecFor(fileOf({ L: { fields: { id: {}, note: {} } } }), "L", "json");
    const note = "\u0001".repeat(60_000);
    const answer = `{"id":9007199254740993,"note":${JSON.stringify(note)}}`;
    const spent = await cpuMsOf(() => expect(codec.decode(answer).value).toEqual({ id: "9007199254740993", note }));
    expect(spent).toBeLessThan(5_000);
  });

  test("very many unknown members are kept without extra time", async () => {
    const codec = codecFor(fileOf({ L: { fields: { id: { optional: true } } } }), "L", "json", { unknown: "keep" });
    const members = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`a${at}`, at]));
    const answer = JSON.stringify(members);
    const spent = await cpuMsOf(() => expect(Object.keys(codec.decode(answer).value ?? {})).toHaveLength(40_000));
    expect(spent).toBeLessThan(5_000);
  });

  test("a text that is too long for its pattern does not match, and takes limited time", () => {
    const text = codecFor(fileOf({ T: { fields: { t: { pattern: String.raw`\s+$` } } } }), "T", "json");
    const { deviations } = text.decode(JSON.stringify({ t: `${" ".repeat(200_000)}x` }));
    expect(deviations).toMatchObject([{ path: "t", problem: String.raw`expected text that matches "\\s+$"` }]);
  });

  test("recursive types are not followed forever", () => {
    const tree = codecFor(fileOf({ T: { fields: { t: { type: "T", optional: true } } } }), "T", "json");
    expect(() => tree.decode(`${`{"t":`.repeat(5_000)}{}${"}".repeat(5_000)}`)).toThrow(/nested deeper than 100/);
  });
});

test("a type that cannot be written as JSON is refused again for the next tool, also inside another type", () => {
  const broken = fileOf({
    A: { fields: { b: { type: "B" }, x: { wire: "x[]" } } },
    B: { fields: { more: { list: "A" } } },
  });
  for (const type of ["A", "B", "A", "B"]) {
    expect(() => codecFor(broken, type, "json").decode(`{"more":[{}]}`)).toThrow(/types\.A\.fields/);
  }
});

describe("forms", () => {
  const form = codecFor(
    fileOf({
      F: {
        fields: { name: {}, tags: { list: { type: "integer" }, optional: true }, guest: { type: "G", optional: true } },
      },
      G: { fields: { mail: { wire: "e-mail" } } },
    }),
    "F",
    "form",
  );

  test("blanks, signs and names with dots", () => {
    const value = { name: "a b&c=d+ü%", tags: [1, 2], guest: { mail: "x@y" } };
    expect(form.encode(value)).toBe("name=a+b%26c%3Dd%2B%C3%BC%25&tags=1&tags=2&guest.e-mail=x%40y");
    expect(form.decode(form.encode(value))).toEqual({ value, deviations: [] });
  });

  test("deviations from the declared types are reported", () => {
    expect(form.decode("name=a&name=b&tags=x&other=1").deviations).toEqual([
      { path: "name", problem: "is here more than once", received: "b" },
      { path: "tags[0]", problem: "expected a whole number", received: "x" },
      { path: "other", problem: "unknown member", received: "1" },
    ]);
    expect(form.decode("guest.e-mail=a").deviations).toEqual([{ path: "name", problem: "missing" }]);
    expect(() => form.decode("a=%zz")).toThrow(expect.objectContaining({ code: "PROTOCOL_VIOLATION" }));
  });

  test("lists of objects cannot be sent", () => {
    const file = fileOf({ F: { fields: { guests: { list: "G" } } }, G: { fields: { a: {} } } });
    expect(() => codecFor(file, "F", "form")).toThrow(/cannot be sent as a form: guests/);
  });
});

test("of a list of texts that take too long to be checked against a pattern, no more are tried than fit the limit", () => {
  const pattern = "^(a|b)*$";
  const texts = codecFor(fileOf({ T: { fields: { all: { list: { type: "string", pattern } } } } }), "T", "json", {
    side: "output",
  });
  const { value, deviations } = texts.decode(
    JSON.stringify({ all: Array.from({ length: 190_000 }, () => "abababab") }),
  );
  expect((value as { all: unknown[] })["all"]).toHaveLength(190_000);
  expect(deviations[0]?.problem).toBe("was not checked against its pattern: there is too much text");
  expect(deviations.at(-1)?.problem).toMatch(/^\d+ more deviations$/);
});

test("an answer with more values than allowed is refused before it is parsed", () => {
  const list = codecFor(fileOf({ L: { fields: { all: { wire: ".", list: "integer" } } } }), "L", "json");
  const of = (count: number) => JSON.stringify(Array.from({ length: count }, () => 100));
  expect((list.decode(of(199_000)).value as { all: unknown[] })["all"]).toHaveLength(199_000);
  expect(() => list.decode(of(200_001))).toThrow("The JSON cannot be read: it has more than 200000 values");
});
