import { expect, test } from "vitest";
import { Places } from "./places.ts";

test("who has waited longest comes first, and who gave up takes nobody's place", async () => {
  const places = new Places(1);
  expect(places.tryTake()).toBe(true);
  expect(places.tryTake()).toBe(false);
  const entered: string[] = [];
  const enter = (name: string, signal: AbortSignal) =>
    places.take(signal).then(
      () => entered.push(name),
      () => entered.push(`${name} gave up`),
    );
  const [stay, leave] = [new AbortController(), new AbortController()];
  const all = [enter("first", stay.signal), enter("second", leave.signal), enter("third", stay.signal)];
  leave.abort(new Error("no longer"));
  places.leave();
  places.leave();
  await Promise.all(all);
  expect(entered).toEqual(["second gave up", "first", "third"]);
  expect(places.waiting).toBe(0);
  places.leave();
  expect(places.tryTake()).toBe(true);
});
