import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileOf } from "../../../test/fixtures/tool-file.ts";
import type { ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { checkerFor } from "./checker.ts";
import { rulesFor } from "./rules.ts";
import { examples } from "../../../test/fixtures/depth.ts";

const types = fileOf({
  Query: {
    fields: {
      language: { codes: { 0: "german", 1: "english" }, default: "english" },
      hotelIds: { list: { type: "integer", minimum: 1 }, minItems: 1 },
      arrival: { type: "date" },
      departure: { type: "date" },
      rooms: { list: "Room", minItems: 1, maxItems: 10 },
      code: { maxLength: 8, pattern: "^[A-Z-]+$", optional: true },
      ticket: { pattern: "^T-[0-9]+$", optional: true },
      remark: { maxLength: 100, pattern: String.raw`^\S*(?:\s+\S+)*\s+$`, optional: true },
      at: { type: "datetime", optional: true },
      breakfast: { type: "boolean", optional: true },
      partner: { const: "DEMO" },
      key: { value: "request_key()" },
      internal: { hidden: true, default: "x" },
    },
    rules: [{ that: "departure > arrival", say: "departure must be after arrival" }],
  },
  Room: {
    fields: {
      adults: { type: "integer", minimum: 1 },
      childAges: { list: { type: "integer", minimum: 1, maximum: 17 }, maxItems: 8, optional: true, default: [] },
      source: { hidden: true, default: "web" },
    },
    rules: [{ that: "adults + count(childAges) <= 15", say: "a room takes at most 15 people, children included" }],
  },
});

function checker(unknown: "reject" | "drop" = "reject") {
  const file = {
    ...types,
    tools: { search: { input: "Query", unknown, response: { sourcePayload: true } } as unknown as ToolSpec },
  };
  return checkerFor(file, "search");
}
const check = checker();
const good = {
  hotelIds: [9100],
  arrival: "2025-12-17",
  departure: "2025-12-20",
  rooms: [{ adults: 2, childAges: [3] }],
};
const problems = (more: object) => check({ ...good, ...more }).problems;

describe("arguments (X3)", () => {
  test("that are too long for their pattern are refused after a limited amount of work", () => {
    expect(problems({ remark: `${" ".repeat(1_000_000)}x`, ticket: "AB" })).toEqual([
      "remark: expected at most 100 characters, got 1000001",
      "The arguments hold too much text to check against the patterns; send less",
    ]);
    expect(problems({ remark: "a b ", ticket: "T-1", code: "AB" })).toEqual([]);
    expect(problems({ ticket: "AB", code: "T-1" })).toHaveLength(2);
  });

  test("that are valid are returned with their defaults, including hidden ones, and are not changed", () => {
    const given = structuredClone({
      ...good,
      rooms: [{ adults: 1 }, { adults: 2, childAges: [1] }],
      includeSourcePayload: true,
    });
    const before = JSON.stringify(given);
    expect(check(given)).toEqual({
      value: {
        ...given,
        rooms: [
          { adults: 1, childAges: [], source: "web" },
          { adults: 2, childAges: [1], source: "web" },
        ],
        language: "english",
        internal: "x",
      },
      problems: [],
    });
    expect(JSON.stringify(given)).toBe(before);
  });

  test.each([
    [{ rooms: [{ adults: 2, childAges: [3, 18] }] }, "rooms[0].childAges[1]: expected at most 17, got 18"],
    [{ rooms: [{ adults: 2, childAges: [0] }] }, "rooms[0].childAges[0]: expected at least 1, got 0"],
    [{ rooms: [{ adults: 2 }, { adults: 1.5 }] }, "rooms[1].adults: expected integer, got 1.5"],
    [{ rooms: [{ adults: "2" }] }, `rooms[0].adults: expected integer, got string "2"`],
    [{ rooms: [] }, "rooms: expected at least 1 item, got 0"],
    [{ rooms: Array.from({ length: 11 }, () => ({ adults: 1 })) }, "rooms: expected at most 10 items, got 11"],
    [{ rooms: {} }, "rooms: expected array, got object"],
    [{ rooms: [null] }, "rooms[0]: expected object, got null"],
    [{ hotelIds: undefined }, "missing property hotelIds (array)"],
    [{ language: "englisch" }, `language: expected "german" or "english", got "englisch": did you mean "english"?`],
    [
      { arrival: "2025-02-30", departure: "2025-03-02" },
      `arrival: expected a date that exists (YYYY-MM-DD), got "2025-02-30"`,
    ],
    [{ departure: "20.12.2025" }, `departure: expected a date that exists (YYYY-MM-DD), got "20.12.2025"`],
    [{ departure: "2025-12-17" }, "departure must be after arrival"],
    [
      { rooms: [{ adults: 2 }, { adults: 15, childAges: [1] }] },
      "rooms[1]: a room takes at most 15 people, children included",
    ],
    [{ code: "ABCDEFGHI" }, `code: expected at most 8 characters, got 9 ("ABCDEFGHI")`],
    [{ code: "a" }, `code: expected text that matches "^[A-Z-]+$", got "a"`],
    [{ ticket: "1" }, `ticket: expected text that matches "^T-[0-9]+$", got "1"`],
    [{ at: "yesterday" }, `at: expected a date with a time (YYYY-MM-DDThh:mm:ss), got "yesterday"`],
    [{ at: "2025-02-29T10:00:00" }, "at: there is no such date and time"],
    [{ breakfast: "yes" }, `breakfast: expected boolean, got string "yes"`],
    [{ hotelId: 9100 }, "unknown property hotelId"],
    [{ rooms: [{ adults: 2, dogs: 1 }] }, "unknown property rooms[0].dogs; rooms[0] accepts adults, childAges"],
    [{ brekfast: true }, "unknown property brekfast: did you mean breakfast?"],
    [{ partner: "OTHER" }, "unknown property partner"],
    [{ key: "mine" }, "unknown property key"],
    [{ internal: "y" }, "unknown property internal"],
  ])("that are wrong are told by name: %j", (more, problem) => {
    expect(problems(more)).toEqual([problem]);
  });

  test("have all their problems reported at once, with a confused name at both ends", () => {
    expect(
      check({
        arival: "2025-12-17",
        departure: "2025-12-16",
        hotelIds: [0],
        rooms: [{ adults: 16 }],
        code: "abcdefghij",
      }).problems,
    ).toEqual([
      "missing property arrival (string): is arival meant to be it?",
      "unknown property arival: did you mean arrival?",
      "hotelIds[0]: expected at least 1, got 0",
      `code: expected at most 8 characters, got 10 ("abcdefghij")`,
      `code: expected text that matches "^[A-Z-]+$", got "abcdefghij"`,
      "rooms[0]: a room takes at most 15 people, children included",
    ]);
  });

  test("that are unknown are dropped if the tool says so, also fields that are not arguments", () => {
    const { value, problems } = checker("drop")({
      ...good,
      extra: 1,
      key: "mine",
      partner: "OTHER",
      internal: "y",
      includeSourcePayload: true,
      rooms: [{ adults: 1, bed: "x", source: "evil" }],
    });
    expect(problems).toEqual([]);
    expect(value).toEqual({
      ...good,
      language: "english",
      internal: "x",
      includeSourcePayload: true,
      rooms: [{ adults: 1, childAges: [], source: "web" }],
    });
  });

  test.each([[undefined], [null], [[]], ["text"], [5]])("that are no object: %j", (args) => {
    expect(check(args).problems.length).toBeGreaterThan(0);
  });

  test("named like members of every object are unknown or missing, and change nothing", () => {
    const given = JSON.parse(`{"__proto__":{"adults":1},"constructor":1}`) as object;
    expect(problems(given)).toEqual(["unknown property __proto__", "unknown property constructor"]);
    expect(checkerOf({ constructor: {}, toString: { optional: true } })({}).problems).toEqual([
      "missing property constructor (string)",
    ]);
    expect(({} as Record<string, unknown>)["adults"]).toBeUndefined();
  });

  test("never make the checker crash", () => {
    const near = fc.record({ rooms: fc.anything(), arrival: fc.anything(), hotelIds: fc.array(fc.anything()) });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), near), (args) => check(args).problems.length > 0),
      { numRuns: examples(500) },
    );
  });

  test("that are too deep for a recursive type are refused", () => {
    const tree = checkerOf({ t: { type: "T", optional: true } });
    let deep: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth++) deep = { t: deep };
    expect(tree(deep).problems).toEqual(["The arguments are nested too deep"]);
    expect(tree({ t: { t: {} } }).problems).toEqual([]);
  });

  test("of too many problems the first 50 are reported", () => {
    const { problems } = check({ ...good, hotelIds: Array.from({ length: 80 }, () => 0) });
    expect([problems.length, problems.at(49), problems.at(-1)]).toEqual([
      51,
      "hotelIds[49]: expected at least 1, got 0",
      "there may be more than these 50 problems",
    ]);
  });
});

test("of many wrong values, broken rules and large numbers 50 problems are reported", () => {
  const many = (item: unknown, length = 100_000) => Array.from({ length }, () => item);
  const check = checkerOf({ at: { list: "datetime", optional: true }, n: { list: "number", optional: true } });
  const more = "there may be more than these 50 problems";
  for (const [args, first] of [
    [{ at: many("2026-02-31T10:00:00", 1_000) }, "at[0]: there is no such date and time"],
    [{ n: many(9007199254740992) }, /^n\[0\]: too large to be exact/],
    [{ n: many("x") }, 'n[0]: expected number, got string "x"'],
    [{ n: many(9007199254740992), at: many(1) }, "at[0]: expected string, got 1"],
  ] as const) {
    const { problems } = check(args);
    expect([problems.length, problems.at(-1)]).toEqual([51, more]);
    if (typeof first === "string") expect(problems[0]).toBe(first);
    else expect(problems[0]).toMatch(first);
  }
});

function checkerOf(fields: Parameters<typeof fileOf>[0][string]["fields"]) {
  const file = {
    ...fileOf({ T: { fields } }),
    tools: { t: { input: "T", unknown: "reject", response: {} } as unknown as ToolSpec },
  };
  return checkerFor(file, "t");
}

test("X3: a number is refused only if its digits may have been lost", () => {
  const check = checkerOf({
    id: { type: "integer", optional: true },
    amount: { type: "number", optional: true },
    sizes: { list: { type: "number" }, optional: true },
  });
  const refused = "too large to be exact; whole numbers go from -9007199254740991 to 9007199254740991";
  // As JSON gives them: the last digits of the long ones are others already.
  const problemsOf = (json: string) => check(JSON.parse(json)).problems;
  expect(problemsOf('{"id":9007199254740991,"amount":6e23,"sizes":[1e300,-6.02214076e23,0.1]}')).toEqual([]);
  expect(problemsOf('{"id":10000000000000001}')).toEqual([`id: ${refused}`]);
  expect(problemsOf('{"amount":9007199254740993,"sizes":[1,12345678901234567890]}')).toEqual([
    `amount: ${refused}`,
    `sizes[1]: ${refused}`,
  ]);
});

test("a rule can use the current day in the API's time zone", () => {
  const rule = { that: 'arrival >= today("Europe/Vienna")', say: "arrival is in the past", evidence: [] };
  const query = types.types["Query"];
  const file = { ...types, types: { ...types.types, Query: { fields: {}, ...query, rules: [rule] } } } as ToolFile;
  const at = (time: number) => rulesFor(file, "Query", () => time)({ arrival: "2025-12-16" });
  expect(at(Date.UTC(2025, 11, 16, 22, 59))).toEqual([]);
  expect(at(Date.UTC(2025, 11, 16, 23, 0))).toEqual([{ path: "", say: "arrival is in the past" }]);
});

test("rules can be checked alone, for values from elsewhere", () => {
  const broken = rulesFor(types, "Query");
  const value = {
    arrival: "2025-12-20",
    departure: "2025-12-17",
    rooms: [{ adults: 9, childAges: [1, 1, 1, 1, 1, 1, 1] }],
  };
  expect(broken(value)).toEqual([
    { path: "", say: "departure must be after arrival" },
    { path: "rooms[0]", say: "a room takes at most 15 people, children included" },
  ]);
  expect(broken({ arrival: "2025-12-20" })).toEqual([]);
});
