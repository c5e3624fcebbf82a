import { expect, test } from "vitest";
import { parseWirePath } from "./wire-path.ts";

const ELEMENT = { predicates: [], repeats: false };

test("a path of elements ends at an element or an attribute", () => {
  expect(parseWirePath("members/member[]/@hotel_id")).toEqual([
    { ...ELEMENT, name: "members" },
    { ...ELEMENT, name: "member", repeats: true },
    { ...ELEMENT, name: "hotel_id", attribute: true },
  ]);
  expect(parseWirePath("Größe")).toEqual([{ ...ELEMENT, name: "Größe" }]);
  expect(parseWirePath(".")).toEqual([{ ...ELEMENT, name: "", text: true }]);
});

test("prefixes and conditions distinguish elements", () => {
  expect(parseWirePath(`ota:Guest[@Code=8][@xsi:type='a]b'][]/@Age`)).toEqual([
    {
      name: "Guest",
      prefix: "ota",
      predicates: [
        { attribute: "Code", value: "8" },
        { attribute: "type", prefix: "xsi", value: "a]b" },
      ],
      repeats: true,
    },
    { ...ELEMENT, name: "Age", attribute: true },
  ]);
});

test.each([
  ["", "column 1: the name of an element"],
  ["/a", "column 1: the name of an element"],
  ["a//b", "column 3: the name of an element"],
  ["a/", "column 3: the name of an element"],
  ["a b", 'column 2: " " is not expected'],
  ["@a/b", "column 3: nothing is inside of an attribute"],
  ["@a[]", "column 3: an attribute neither repeats"],
  ["a[]/b[]", "column 6: only one step of a path can repeat"],
  ["a[][@b=1]", "column 4: [] comes after all conditions"],
  ["a[1]", "column 2: between [ and ] write nothing, or a condition"],
  ["a[@b", "column 2: between [ and ] write nothing, or a condition"],
])("%j is refused with the column", (path, message) => {
  expect(() => parseWirePath(path)).toThrow(message);
});
