import { expect, test } from "vitest";
import { nearestName } from "./nearest-name.ts";

test.each([
  ["demo.ech", "demo.echo"],
  ["demo.ad", "demo.add"],
  ["tools/lsit", "tools/list"],
  ["maxResults", "max_results"],
  ["mcp__demo__eho", "mcp__demo__echo"],
])("%s was meant to be %s", (given, meant) => {
  expect(nearestName(given, [meant, "demo.something", "zzz"])).toBe(meant);
});

test.each([
  ["everything.zzz", "everything.abc"],
  ["https://example.com/a", "https://example.com/xyz"],
  ["ab", "xy"],
])("%s is nowhere near %s: what both begin with does not count", (given, other) => {
  expect(nearestName(given, [other])).toBeUndefined();
});

test("a name of more than 200 characters is not compared with others", () => {
  const name = (length: number, end: string) => "a".repeat(length - 1) + end;
  expect(nearestName(name(200, "b"), [name(200, "c")])).toBe(name(200, "c"));
  expect(nearestName(name(201, "b"), [name(200, "c")])).toBeUndefined();
  expect(nearestName(name(200, "b"), [name(201, "c")])).toBeUndefined();
});
