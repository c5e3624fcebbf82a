import { expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

test("of too many entries, those that were set or used longest ago are dropped", () => {
  const map = new RecentMap<string, number>({ most: 2 });
  map.set("a", 1).set("b", 2);
  expect(map.use("a")).toBe(1);
  map.set("c", 3);
  expect([...map]).toEqual([
    ["a", 1],
    ["c", 3],
  ]);
  map.set("a", 4).set("d", 5);
  expect([...map.keys()]).toEqual(["a", "d"]);
  expect(map.use("b")).toBeUndefined();
});

test("values together weigh at most so much, also after some were replaced or removed", () => {
  const map = new RecentMap<string, string>({ maxWeight: 10, weigh: ({ length }) => length });
  map.set("a", "1234").set("b", "1234");
  map.set("a", "12345");
  expect([...map.keys()]).toEqual(["b", "a"]);
  map.set("c", "12");
  expect([...map.keys()]).toEqual(["a", "c"]);
  expect(map.delete("a")).toBe(true);
  map.set("d", "12345678");
  expect([...map.keys()]).toEqual(["c", "d"]);
  map.clear();
  map.set("e", "1234567890");
  expect([...map.keys()]).toEqual(["e"]);
});

test("a value that weighs more than all may is not kept, and takes no other's place", () => {
  const map = new RecentMap<string, string>({ maxWeight: 3, weigh: ({ length }) => length });
  map.set("a", "1").set("b", "1234");
  expect([...map.keys()]).toEqual(["a"]);
});
