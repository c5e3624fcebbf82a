import { expect, test } from "vitest";
import { EventStore, KeptEvents } from "./kept-events.ts";

const keptIn = (store: EventStore, principal = "somebody") => new KeptEvents(store, principal);

test("Streams of one principal do not displace those of another that has its part or less", () => {
  const store = new EventStore(400);
  const [hers, ...theirs] = [keptIn(store, "alice"), ...Array.from({ length: 9 }, () => keptIn(store, "mallory"))];
  for (const ended of [hers, ...theirs]) {
    ended.add(1, "x".repeat(50));
    ended.end();
  }
  expect(hers.hasAllAfter(0)).toBe(true);
  expect(theirs.map((events) => events.hasAllAfter(0)).slice(-3)).toEqual([false, true, true]);
});

test("where there is no room, those go first that have ended, the oldest of them before others", () => {
  const store = new EventStore(100);
  const [first, second, running] = [keptIn(store), keptIn(store), keptIn(store)];
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
  const events = keptIn(new EventStore());
  for (let sequence = 1; sequence <= 1200; sequence++) events.add(sequence, "x");
  expect(events.hasAllAfter(199)).toBe(false);
  expect(events.hasAllAfter(200)).toBe(true);
  expect(events.after(1198)).toHaveLength(2);
});
