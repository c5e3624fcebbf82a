import fc from "fast-check";
import { expect, test } from "vitest";
import { memberNames, memberPath } from "./member-names.ts";

test("a path is names with dots, of which one may repeat", () => {
  expect(memberNames("data.items[].id")).toEqual([
    { name: "data", repeats: false },
    { name: "items", repeats: true },
    { name: "id", repeats: false },
  ]);
  for (const wrong of ["", ".", "a..b", ".a", "a.", "a[0]", "[]"]) expect(memberNames(wrong)).toBeUndefined();
});

test("a member of any name has a path", () => {
  expect(memberPath("@odata.type")).toBe(String.raw`@odata\.type`);
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "binary" }), (name) => {
      expect(memberNames(memberPath(name))).toEqual([{ name, repeats: false }]);
    }),
  );
  expect(memberNames(memberPath("a[]"))).toEqual([{ name: "a[]", repeats: false }]);
});
