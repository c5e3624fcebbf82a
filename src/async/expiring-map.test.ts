import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ExpiringMap } from "./expiring-map.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("an expiring map keeps the last entry longest, and reports each that expires once", () => {
  const gone: string[] = [];
  const map = new ExpiringMap<string>(60, (value) => gone.push(value));
  map.set("a", "A");
  map.set("b", "B");
  vi.advanceTimersByTime(40);
  map.set("a", "A");
  vi.advanceTimersByTime(30);
  expect([gone, map.get("a"), map.size]).toEqual([["B"], "A", 1]);
  vi.advanceTimersByTime(60);
  expect([gone, map.size, vi.getTimerCount()]).toEqual([["B", "A"], 0, 0]);
});

test("an expiring map does not report an entry that was taken out", () => {
  const gone: string[] = [];
  const map = new ExpiringMap<string>(20, (value) => gone.push(value));
  for (const key of ["a", "b", "c", "d"]) map.set(key, key);
  expect(map.take("b")).toBe("b");
  expect(map.takeOldest((value) => value !== "x")).toBe("a");
  expect(map.takeAll((value) => value === "d")).toEqual(["d"]);
  vi.advanceTimersByTime(30);
  expect(gone).toEqual(["c"]);
  expect([map.takeOldest(() => true), map.takeAll(), vi.getTimerCount()]).toEqual([undefined, [], 0]);
});
