import { expect, test } from "vitest";
import { Roster } from "./roster.ts";

test("a roster keeps its members in the order in which they came", () => {
  const roster = new Roster<string>();
  const numbers = ["a", "b", "a", "c"].map((name) => roster.enter(name));
  roster.leave(numbers[1] ?? 0);
  roster.leave(numbers[1] ?? 0);
  expect(roster.values()).toEqual(["a", "a", "c"]);
  expect(roster.size).toBe(3);
});
