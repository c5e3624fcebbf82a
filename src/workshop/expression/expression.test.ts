import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import { evaluate } from "./evaluate.ts";
import type { Scope } from "./expression.ts";
import { namesIn } from "./names.ts";
import { parseExpression } from "./parse.ts";
import { examples } from "../../../test/fixtures/depth.ts";

const STAY: Scope = {
  arrival: "2025-12-17",
  departure: "2025-12-20",
  adults: 2,
  childAges: [3, 9],
  price: 0.1,
  nothing: null,
  hotels: [
    {
      id: 1,
      rooms: [
        {
          options: [
            { code: "DZ", total: 675 },
            { code: "FAMZ", total: 642.5 },
          ],
        },
        { options: [] },
      ],
    },
    { id: 2, rooms: [{ options: [{ code: "APP", total: 510 }] }] },
    { id: 3 },
  ],
  now: () => "2025-11-15T10:00:00Z",
  seen: (value: unknown) => value === "A-1",
};

function valueOf(text: string, scope: Scope = STAY): unknown {
  return evaluate(parseExpression(text), scope);
}

describe("the small language of rules and values", () => {
  test.each<[string, unknown]>([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3 - -1", 10],
    ["7 - 2 - 1", 4],
    ["'a' + 1", "a1"],
    ['"it\'s"', "it's"],
    ["'it\\'s'", "it's"],
    ["departure > arrival", true],
    ["if(adults > 1, adults + 1)", 3],
    ["if(adults > 2, adults + 1)", null],
    ["if(nothing, 'yes', 'no')", "no"],
    ["departure == arrival", false],
    ["adults + count(childAges) <= 15", true],
    ["not adults == 2 or true and false", false],
    ["hotels[0].rooms[0].options[1].code", "FAMZ"],
    ["count(hotels[].rooms[].options[])", 3],
    ["count(hotels[].rooms.options)", 3],
    ["count(hotels[].rooms[].options[], total > 600)", 2],
    ["count(hotels[].rooms[].options[], total > 600 and adults == 2)", 2],
    ["sum(hotels[].rooms[].options[].total)", 1827.5],
    ["sum(hotels[].rooms[].options[], total * adults)", 3655],
    ["first(hotels[].rooms[].options[], code == 'APP').total", 510],
    ["first(hotels[].rooms[].options[], code == 'XX').total", null],
    ["count(childAges, item > 3)", 1],
    ["first(hotels, count(rooms[].options[], total < 600) > 0).id", 2],
    ["days(arrival, departure)", 3],
    ["days('2025-02-28T10:00:00', '2025-03-01')", 1],
    ["days('2025-02-30', departure)", null],
    ["round(1.005, 2)", 1.01],
    ["round(-2.5)", -3],
    ["round(642.5 / 3, 2)", 214.17],
    ["min(3, 1, 2)", 1],
    ["max(childAges)", 9],
    ["max(arrival, departure)", "2025-12-20"],
    ["min(nothing)", null],
    ["join(childAges, ' and ')", "3 and 9"],
    ["contains(childAges, 9) and not contains(childAges, 4) and not contains(missing, 9)", true],
    ["upper('dz') + lower('KO')", "DZko"],
    ["now()", "2025-11-15T10:00:00Z"],
    ["seen('A-1') and not seen('A-2')", true],
  ])("%s is %j", (text, expected) => {
    expect(valueOf(text)).toEqual(expected);
  });

  test("a number that a double cannot hold is refused, not rounded", () => {
    expect(() => parseExpression("id == 9007199254740993")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("column 7: 9007199254740993 has too many digits to be an exact number"),
        hint: "As text it is exact: '9007199254740993'",
      }),
    );
  });

  test("amounts of money are rounded as people expect", () => {
    expect(valueOf("price + 0.2 == 0.3")).toBe(true);
    expect(valueOf("1.1 * 3")).toBe(3.3);
    expect(valueOf("0.0000001 * 1")).toBe(1e-7);
    expect(valueOf("10000000000000000000000 * 1")).toBe(1e22);
  });

  test.each<[string, number]>([
    ["99999999999 + 1", 100_000_000_000],
    ["1700000000000 + 1", 1_700_000_000_001],
    ["9007199254740990 + 1", Number.MAX_SAFE_INTEGER],
    ["100000000000.1 + 0.2", 100_000_000_000.3],
    ["0 - 1700000000000.5", -1_700_000_000_000.5],
    ["sum(large)", 300_000_000_001],
    ["round(123456789012.345, 2)", 123_456_789_012.35],
  ])("large numbers stay numbers: %s is %j", (text, expected) => {
    expect(evaluate(parseExpression(text), { large: [200_000_000_000, 100_000_000_000, 1] })).toBe(expected);
  });

  test.each<[string, unknown]>([
    ["missing", null],
    ["missing.deeper[0].still", null],
    ["missing + 1", null],
    ["missing < 1", false],
    ["missing >= 1", false],
    ["missing == null", true],
    ["nothing != null", false],
    ["count(missing)", 0],
    ["sum(missing)", 0],
    ["1 / 0", null],
    ["adults < 'a'", false],
    ["hotels.id", null],
  ])("what is absent is null: %s is %j", (text, expected) => {
    expect(valueOf(text)).toEqual(expected);
  });

  test.each([
    "__proto__",
    "constructor",
    "toString",
    "hotels.length",
    "hotels.constructor",
    "arrival.length",
    "hotels[0].__proto__",
    "hotels[0].constructor.constructor",
    "hotels[].constructor[0]",
    "first(hotels, true).hasOwnProperty",
    "now",
    "now.name",
  ])("%s reaches nothing but data", (text) => {
    expect(valueOf(text)).toBeNull();
  });

  test("a member named __proto__ in the data is data", () => {
    expect(valueOf("a.__proto__", { a: JSON.parse('{"__proto__": 5}') })).toBe(5);
  });

  test.each<[string, string]>([
    ["departure >", "column 12: a value is missing before the end"],
    ["1 < 2 < 3", 'column 7: "<" is not expected here'],
    ["coun(rooms)", "column 1: there is no function coun"],
    ["constructor(1)", "column 1: there is no function constructor"],
    ["round()", "column 1: round() takes 1 to 2 values, not 0"],
    ["a = 1", 'column 3: "=" has no meaning here'],
    ["a && b", 'column 3: "&" has no meaning here'],
    ["'open", "column 1: the text that begins here has no closing '"],
    ["a[x]", "column 3: between [ and ] write the number"],
    ["a.", "column 3: the name of a member is missing"],
    ["(a", "column 3: ) is missing before the end"],
    ["", "column 1: a value is missing before the end"],
    ["not", "column 4: a value is missing before the end"],
    [`${"(".repeat(200)}1${")".repeat(200)}`, "nested too deeply"],
    [`a${".b".repeat(500)}`, "too many steps"],
    [`1${"+1".repeat(500)}`, "too many parts"],
    ["x".repeat(3_000), "is longer than 2000 characters"],
  ])("%s is refused with the column", (text, message) => {
    expect(() => parseExpression(text)).toThrow(message);
  });

  test("an unavailable function is named", () => {
    expect(() => valueOf("request_key()")).toThrow("request_key() is not available here");
  });

  test("nested lists cannot run forever", () => {
    const list = Array.from({ length: 300 }, (_, index) => ({ index }));
    expect(() => valueOf("count(list, count(list, count(list, index > 1) > 1) > 1)", { list })).toThrow("too long");
  });

  test("the names that a rule needs", () => {
    const needed = (text: string) => namesIn(parseExpression(text));
    expect(needed("departure > arrival")).toEqual(["departure", "arrival"]);
    expect(needed("adults + count(childAges) <= 15")).toEqual(["adults"]);
    expect(needed("email or phone")).toEqual([]);
    expect(needed("email != null or phone != null")).toEqual([]);
    expect(needed("not company or vat == 'x'")).toEqual(["vat"]);
    expect(needed("count(rooms, adults > limit) < max(rooms[0].beds, most)")).toEqual(["rooms", "most"]);
  });

  test("random text is refused or computed, never anything else", () => {
    const words = fc.constantFrom(
      ..."a b.c list[] [0] . ( ) , + - * / == < and or not count( sum( first( min( days( 'x' 1 2.5 __proto__ constructor null item".split(
        " ",
      ),
    );
    const scope: Scope = { a: 1, b: { c: "x" }, list: [{ a: 2 }, [3], null, "t"] };
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.array(words, { maxLength: 15 }).map((parts) => parts.join(" ")),
    );
    fc.assert(
      fc.property(text, (random) => {
        try {
          const value = valueOf(random, scope);
          expect(typeof value).not.toBe("function");
          expect(value).not.toBeUndefined();
        } catch (error) {
          expect(error).toBeInstanceOf(NexusError);
        }
      }),
      { numRuns: examples(3_000) },
    );
  });
});
