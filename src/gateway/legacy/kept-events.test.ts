import { expect, test } from "vitest";
import { EventStore, KeptEvents } from "./kept-events.ts";

test("where there is no room, those go first that have ended, the oldest of them before others", () => {
  const store = new EventStore(100);
  const [first, second, running] = [new KeptEvents(store), new KeptEvents(store), new KeptEvents(store)];
  for (const ended of [first, second]) {
    ended.add(1, "x".repeat(40));
    ended.end();
  }
  running.add(1, "y".repeat(40));
  expect(first.hasAllAfter(0)).toBe(false);
  expect(second.hasAllAfter(0)).toBe(true);
  expect(running.after(0)).toHaveLength(1);
  expect(store.bytes).toBe(80);
  running.add(2, "y".repeat(70));
  expect(second.hasAllAfter(0)).toBe(false);
  expect(running.hasAllAfter(0)).toBe(false);
  expect(running.after(1)).toHaveLength(1);
  running.discard();
  expect(store.bytes).toBe(0);
});

test("a stream keeps a thousand events, and tells which are gone", () => {
  const events = new KeptEvents(new EventStore());
  for (let sequence = 1; sequence <= 1200; sequence++) events.add(sequence, "x");
  expect(events.hasAllAfter(199)).toBe(false);
  expect(events.hasAllAfter(200)).toBe(true);
  expect(events.after(1198)).toHaveLength(2);
});
