import { describe, expect, test } from "vitest";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import { codecFor } from "../codec-for.ts";

const HOTEL = "http://hotel.example/";

const search = fileOf({
  Query: {
    xml: { element: "query" },
    fields: {
      language: { codes: { 0: "german", 1: "english" } },
      hotelIds: { wire: "members/member[]/@id", list: { type: "integer" } },
      arrival: { type: "date" },
      rooms: { wire: "rooms/room[]", list: "Room" },
    },
  },
  Room: {
    fields: {
      adults: { wire: "@adults", type: "integer" },
      childAges: { wire: "child[]/@age", list: "integer", optional: true },
    },
  },
  Result: {
    xml: { element: "result", namespace: HOTEL },
    fields: {
      currency: { const: "EUR", wire: false },
      hotels: { wire: "members/member[]", list: "Hotel", keepEmpty: true },
      errors: { wire: "errors/error[]", list: "Problem", optional: true },
    },
  },
  Hotel: { fields: { id: { wire: "@id", type: "integer" }, options: { wire: "options/option[]", list: "Option" } } },
  Option: {
    fields: {
      code: { wire: "catc", maxLength: 4 },
      text: { wire: "description", whitespace: "collapse" },
      price: { type: "number" },
      board: { codes: { 1: "breakfast", 4: "no_meals" } },
    },
  },
  Problem: { fields: { code: { wire: "@code", optional: true }, text: { wire: "." } } },
});

const query = codecFor(search, "Query", "xml");
const result = codecFor(search, "Result", "xml");

const read = (xml: string) => result.decode(xml);
const option = (inside: string) =>
  `<result xmlns="${HOTEL}"><members><member id="1"><options><option>${inside}</option></options></member></members></result>`;
const OPTION = "<catc>DZ</catc><description>d</description><price>1</price><board>1</board>";

describe("writing (X6)", () => {
  test("paths with the same start share their elements, in the order of the fields", () => {
    const xml = query.encode({
      arrival: "2025-12-17",
      language: "english",
      rooms: [{ adults: 2, childAges: [3] }, { adults: 1 }],
      hotelIds: [9100, 9200],
    });
    expect(xml).toBe(
      `<?xml version="1.0" encoding="utf-8"?>\n<query><language>1</language><members><member id="9100"/><member id="9200"/></members>` +
        `<arrival>2025-12-17</arrival><rooms><room adults="2"><child age="3"/></room><room adults="1"/></rooms></query>`,
    );
  });

  test("constants distinguish siblings; amounts have their decimals; absent fields have no element", () => {
    const booking = fileOf({
      Booking: {
        xml: { element: "Booking", namespace: HOTEL },
        fields: {
          version: { wire: "@Version", const: "1" },
          adults: { wire: "Guests/Guest[@Code=10]/@Count", type: "integer" },
          children: { wire: "Guests/Guest[@Code=8][]", list: "Child", optional: true },
          total: { wire: "Total/@Amount", type: "number", decimals: 2 },
          currency: { wire: "Total/@Currency", const: "EUR", optional: true },
          extras: { wire: "Services/Service[]/@Name", list: "string", optional: true },
          guest: { wire: "Profile/Customer", type: "Guest" },
          comment: { wire: "Profile/Comment", optional: true },
          reference: { wire: false, optional: true },
        },
      },
      Child: { fields: { age: { wire: "@Age", type: "integer" }, count: { wire: "@Count", type: "integer" } } },
      Guest: { fields: { language: { wire: "@Language", optional: true }, name: { wire: "Person/Name" } } },
    });
    const codec = codecFor(booking, "Booking", "xml");
    const value = {
      adults: 2,
      children: [{ age: 3, count: 1 }],
      total: 675,
      guest: { name: "Jörgina" },
      reference: "x",
    };
    const xml = codec.encode(value);
    expect(xml.split("\n")[1]).toBe(
      `<Booking xmlns="${HOTEL}" Version="1"><Guests><Guest Code="10" Count="2"/><Guest Code="8" Age="3" Count="1"/></Guests>` +
        `<Total Amount="675.00" Currency="EUR"/><Profile><Customer><Person><Name>Jörgina</Name></Person></Customer></Profile></Booking>`,
    );
    const { reference: _, ...sent } = value;
    expect(codec.decode(xml)).toEqual({
      value: { version: "1", ...sent, currency: "EUR", extras: [] },
      deviations: [],
    });
  });

  test("prefixes are those of the file, elements without a namespace say so, and reserved ones need no declaration", () => {
    const file = fileOf(
      {
        Order: {
          xml: { element: "Order", namespace: "urn:a" },
          fields: {
            type: { wire: "@xsi:type" },
            language: { wire: "@xml:lang" },
            other: { wire: "b:Other/@b:id" },
            inner: { wire: "b:Other/Inner" },
          },
        },
      },
      { b: "urn:b" },
    );
    const codec = codecFor(file, "Order", "xml");
    const value = { type: "t", language: "de", other: "1", inner: "x" };
    const xml = codec.encode(value);
    expect(xml).toContain(`<b:Other b:id="1"><Inner>x</Inner></b:Other>`);
    expect(codec.decode(xml)).toEqual({ value, deviations: [] });
  });

  test.each([
    [{ rooms: [{ adults: "2" }] }, "rooms[0].adults expected a whole number"],
    [{ rooms: [{ adults: 2, childAges: [1, 1.5] }] }, "rooms[0].childAges[1] expected a whole number"],
    [{ rooms: {} }, "rooms must be a list"],
    [{ rooms: [null] }, "rooms[0] is missing"],
    [{ language: "french" }, "language expected one of german, english"],
    [{ arrival: "2025-02-30" }, "arrival expected a date (YYYY-MM-DD)"],
  ])("a value that cannot be written is refused by its name: %j", (value, message) => {
    expect(() => query.encode(value)).toThrow(expect.objectContaining({ code: "ARGUMENTS_INVALID", message }));
  });

  test.each(["\u0000", "a\u0008", "\uFFFF", "\uD800", "x\u001F"])(
    "characters that XML cannot hold are refused: %j",
    (text) => {
      expect(() => result.encode({ errors: [{ text }] })).toThrow(/^errors\[0\]\.text contains the character U\+/);
    },
  );

  test("markup in values is written as text, at any place", () => {
    const value = {
      currency: "EUR",
      hotels: [],
      errors: [{ code: `"'<&>\n\t\r`, text: `</error><x a="1">]]>&amp;\r\n` }],
    };
    expect(read(result.encode(value))).toEqual({ value, deviations: [] });
  });
});

describe("reading (X6)", () => {
  test("one element is a list, none is an empty list, even if its parents are missing", () => {
    expect(read(option(OPTION)).value).toMatchObject({ hotels: [{ id: 1, options: [{ code: "DZ" }] }] });
    for (const inside of ["", "<members/>", "<members></members>"]) {
      expect(read(`<result xmlns="${HOTEL}">${inside}</result>`)).toEqual({
        value: { currency: "EUR", hotels: [], errors: [] },
        deviations: [],
      });
    }
    expect(read(`<result xmlns="${HOTEL}"><members><member id="7"/></members></result>`).value).toMatchObject({
      hotels: [{ id: 7, options: [] }],
    });
  });

  test("prefixes, order, blanks, comments, instructions and CDATA make no difference", () => {
    const xml = `\uFEFF<?xml version="1.0"?><!-- a --><?p i?>
      <h:result xmlns:h="${HOTEL}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b">
        <h:members><!-- b --><h:member id="1"><h:options><?p i?><h:option>
          <h:board> 1 </h:board><h:price>\n 337.5 </h:price>
          <h:description><![CDATA[<S\u00fcd> ]]>&amp; 28 m\u00b2,\n   Balkon<!-- c --> &#x41; </h:description><h:catc>028</h:catc>
        </h:option></h:options></h:member></h:members></h:result>`;
    expect(read(xml)).toEqual({
      value: {
        currency: "EUR",
        hotels: [
          { id: 1, options: [{ code: "028", text: "<Süd> & 28 m², Balkon A", price: 337.5, board: "breakfast" }] },
        ],
        errors: [],
      },
      deviations: [],
    });
  });

  test.each([
    ["<catc>1E5</catc>", { code: "1E5" }, []],
    [
      "<catc> 028 </catc>",
      { code: " 028 " },
      [["hotels[0].options[0].code", "expected at most 4 characters", " 028 "]],
    ],
    [
      "<catc>APPART</catc>",
      { code: "APPART" },
      [["hotels[0].options[0].code", "expected at most 4 characters", "APPART"]],
    ],
    ["<catc/>", { code: "" }, []],
  ])("text stays the text it is, also where it breaks a limit: %s", (inside, expected, deviations) => {
    const decoded = read(option(inside + OPTION.replace("<catc>DZ</catc>", "")));
    expect(decoded.value).toMatchObject({ hotels: [{ options: [expected] }] });
    expect(decoded.deviations.map(({ path, problem, received }) => [path, problem, received])).toEqual(deviations);
  });

  const rest = OPTION.replace("<price>1</price>", "");
  test.each([
    [`<price>free</price>${rest}`, "hotels[0].options[0].price", "expected a number", "free"],
    [`<price/>${rest}`, "hotels[0].options[0].price", "expected a number", ""],
    [rest, "hotels[0].options[0].price", "missing", undefined],
    [OPTION.replace(">1</board>", ">9</board>"), "hotels[0].options[0].board", "expected one of the codes 1, 4", "9"],
    [`${OPTION}<extra a="1">x</extra>`, "hotels[0].options[0]/extra", "unknown element", `<extra a="1">x`],
    [`${OPTION}<price>2</price>`, "hotels[0].options[0]/price", "is here more than once", "<price>2"],
    [`${OPTION}words`, "hotels[0].options[0]", "text where none belongs", "words"],
    [OPTION.replace("<price>", `<price unit="x">`), "hotels[0].options[0]/price/@unit", "unknown attribute", "x"],
    [OPTION.replace("1</price>", "1<b/></price>"), "hotels[0].options[0]/price/b", "unknown element", "<b>"],
    [
      `${OPTION}<price xmlns="">2</price>`,
      "hotels[0].options[0]/price",
      "unknown element: it is in no namespace",
      "<price>2",
    ],
  ])("what is not as declared is told and left out: %s", (inside, path, problem, received) => {
    const { value, deviations } = read(option(inside));
    expect(deviations).toEqual([{ path, problem, ...(received === undefined ? {} : { received }) }]);
    expect(value).toMatchObject({ hotels: [{ id: 1, options: [{ code: "DZ" }] }] });
  });

  test("a wrong number of items is reported", () => {
    const file = fileOf({
      T: { xml: { element: "t" }, fields: { a: { wire: "a[]", list: "integer", minItems: 1, maxItems: 2 } } },
    });
    const codec = codecFor(file, "T", "xml");
    expect(codec.decode("<t/>").deviations).toEqual([
      { path: "a", problem: "expected at least 1 items", received: "0" },
    ]);
    expect(codec.decode("<t><a>1</a><a>2</a><a>3</a></t>")).toMatchObject({
      value: { a: [1, 2, 3] },
      deviations: [{ path: "a" }],
    });
    expect(codec.decode("<t><a>1</a><a>x</a></t>")).toEqual({
      value: { a: [1] },
      deviations: [{ path: "a[1]", problem: "expected a whole number", received: "x" }],
    });
  });

  test("a nil element is absent; wrong or missing constants are reported", () => {
    const file = fileOf({
      T: {
        xml: { element: "t" },
        fields: { v: { wire: "@v", const: 1, type: "integer" }, a: { type: "number", optional: true } },
      },
    });
    const codec = codecFor(file, "T", "xml");
    const nil = `xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"`;
    expect(codec.decode(`<t v="01"><a ${nil}/></t>`)).toEqual({ value: { v: 1 }, deviations: [] });
    expect(codec.decode(`<t v="2"/>`)).toEqual({
      value: { v: 1 },
      deviations: [{ path: "v", problem: "expected 1", received: "2" }],
    });
    expect(codec.decode(`<t/>`).deviations).toEqual([{ path: "v", problem: "missing, expected 1" }]);
  });

  test("the presence of an element can be a value", () => {
    const file = fileOf({ T: { xml: { element: "t" }, fields: { success: { wire: "Success", type: "presence" } } } });
    const codec = codecFor(file, "T", "xml");
    expect(codec.decode("<t><Success/></t>")).toEqual({ value: { success: true }, deviations: [] });
    expect(codec.decode("<t/>")).toEqual({ value: { success: false }, deviations: [] });
    expect(codec.encode({ success: false })).toContain("<t/>");
    expect(codec.decode("<t><Success>no</Success></t>").deviations).toHaveLength(1);
  });

  test.each([
    ["<html/>", "it is a <html> without a namespace, expected <result> in the namespace http://hotel.example/"],
    ["<result/>", "it is a <result> without a namespace"],
    ["", "document must contain a root element"],
    ["Service unavailable", "text data outside of root node"],
  ])("another document is not read at all: %s", (xml, message) => {
    expect(() => read(xml)).toThrow(
      expect.objectContaining({ code: "PROTOCOL_VIOLATION", message: expect.stringContaining(message) }),
    );
  });
});

test("recursive types are written and read to a sensible depth", () => {
  const file = fileOf({
    Tree: {
      xml: { element: "tree" },
      fields: {
        name: { wire: "@name" },
        left: { type: "Tree", optional: true },
        children: { wire: "children/node[]", list: "Tree", optional: true },
      },
    },
  });
  const codec = codecFor(file, "Tree", "xml");
  const leaf = (name: string) => ({ name, children: [] });
  const value = {
    name: "a",
    left: { ...leaf("b"), left: leaf("c") },
    children: [leaf("d"), { name: "e", children: [leaf("f")] }],
  };
  expect(codec.decode(codec.encode(value))).toEqual({ value, deviations: [] });
  expect(codec.decode(`<tree name="a"><left name="b"><children><node/></children></left></tree>`).deviations).toEqual([
    { path: "left.children[0].name", problem: "missing" },
  ]);
  let deep: Record<string, unknown> = leaf("z");
  for (let depth = 0; depth < 200; depth++) deep = { name: "y", left: deep };
  expect(() => codec.encode(deep)).toThrow(/is nested too deep/);
});

test.each([
  [{ a: { wire: "x[]", type: "string" } }, "types.T.fields.a: [] is for lists"],
  [{ a: { wire: "x", list: "string" } }, "types.T.fields.a: a list needs [] after the element that repeats"],
  [{ a: { wire: "p:x" } }, `types.T.fields.a: the prefix "p" is not in namespaces`],
  [{ a: { wire: "@x", type: "T" } }, "types.T.fields.a: an attribute holds a single value"],
  [
    { a: { wire: "x[]/@a", list: "string" }, b: { wire: "x[]/@b", list: "string" } },
    `types.T.fields.b: "a" has the same elements`,
  ],
  [{ a: { wire: ".", type: "T" } }, "types.T.fields.a: T holds itself in the same element"],
])("wire paths that cannot work are told when the codec is made: %j", (fields, message) => {
  const file = fileOf({ T: { xml: { element: "t" }, fields } });
  expect(() => codecFor(file, "T", "xml")).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) }),
  );
});
