import { expect, test } from "vitest";
import { longNames } from "./long-names.ts";

test("P1.9: names that fit with their server's prefix are not reported", () => {
  expect(longNames({ id: "github" }, ["t".repeat(56)])).toBeUndefined();
  expect(longNames({ id: "github-enterprise", prefix: "gh" }, ["t".repeat(60)])).toBeUndefined();
});

test.each([
  ["github", 57, `"prefix": "gi"`],
  ["github-enterprise", 50, `"prefix": "ge"`],
  ["github-enterprise", 61, `"prefix": "g"`],
  ["github", 62, "The server's author must shorten them"],
])("P1.9: %s with a name of %i characters gets a prefix that is short enough", (id, length, advice) => {
  expect(longNames({ id }, ["t".repeat(length), "x"])?.advice).toContain(advice);
});
