import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Freshness } from "./list-reader.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const MODERN = { isTold: true, believedMs: 0 };

test("a list is fresh for the shortest lifetime of its pages", () => {
  const list = new Freshness(MODERN);
  list.add({ ttlMs: 5000, cacheScope: "public" });
  list.add({ ttlMs: 1000, cacheScope: "public" });
  expect([list.isFresh, list.remainingMs, list.scope]).toEqual([true, 1000, "public"]);
  vi.advanceTimersByTime(600);
  expect([list.isFresh, list.remainingMs, list.ageMs]).toEqual([true, 400, 600]);
  vi.advanceTimersByTime(600);
  expect([list.isFresh, list.remainingMs]).toEqual([false, 0]);
});

test("one private page, or one without a scope, makes the list private", () => {
  const list = new Freshness(MODERN);
  list.add({ ttlMs: 1000, cacheScope: "public" });
  list.add({ ttlMs: 1000 });
  expect(list.scope).toBe("private");
});

test.each([
  ["a server that tells of changes is believed until it does", { isTold: true, believedMs: 0 }, true, true],
  ["a legacy one that tells of none is asked again after a while", { isTold: false, believedMs: 60_000 }, true, false],
  ["a modern one that promises nothing is asked every time", { isTold: false, believedMs: 0 }, false, false],
])("%s", (_sentence, promise, atOnce, later) => {
  const list = new Freshness(promise);
  list.add({ ttlMs: -1 });
  expect([list.isFresh, list.remainingMs]).toEqual([atOnce, 0]);
  vi.advanceTimersByTime(120_000);
  expect(list.isFresh).toBe(later);
});

test("a reported change makes a list outdated at once", () => {
  const list = new Freshness(MODERN);
  list.add({ ttlMs: 1000, cacheScope: "public" });
  list.expire();
  expect([list.isFresh, list.isOutdated, list.remainingMs]).toEqual([false, true, 0]);
});

test("a list that a server does not have does not limit the others", () => {
  expect(Freshness.ofNothing()).toMatchObject({ isFresh: true, remainingMs: Infinity, scope: "public" });
});
