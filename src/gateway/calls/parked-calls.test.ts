import { expect, test } from "vitest";
import { type Finished, FinishedCalls } from "./parked-calls.ts";

const call = (id: string, bytes: number, { owner = "me", principal = "somebody" } = {}): Finished => {
  return { id, owner, principal, bytes, taken: [] };
};
const kept = (calls: FinishedCalls<Finished>, ...ids: string[]) => ids.filter((id) => calls.get(id) !== undefined);

test("the oldest calls are dropped when there are too many or they are too large; a call that is too large is not kept", () => {
  const calls = new FinishedCalls({ parked: 3, parkedMs: 60_000, keptBytes: 100 });
  for (const id of ["a", "b", "c", "d"]) calls.keep(call(id, 20));
  expect([kept(calls, "a", "b", "c", "d"), calls.bytes]).toEqual([["b", "c", "d"], 60]);
  calls.keep(call("e", 70));
  expect([kept(calls, "b", "c", "d", "e"), calls.bytes]).toEqual([["d", "e"], 90]);
  calls.keep(call("f", 101));
  expect([kept(calls, "d", "e", "f"), calls.bytes]).toEqual([["d", "e"], 90]);
  calls.keep(call("g", 100));
  expect([kept(calls, "d", "e", "g"), calls.bytes]).toEqual([["g"], 100]);
  calls.clear();
  expect([kept(calls, "g"), calls.bytes]).toEqual([[], 0]);
});

test("Calls of one principal do not displace those of another that has its part or less", () => {
  const calls = new FinishedCalls({ parked: 8, parkedMs: 60_000, keptBytes: 800 });
  calls.keep(call("hers", 100, { principal: "alice" }));
  for (const id of ["1", "2", "3", "4", "5", "6", "7", "8", "9"]) calls.keep(call(id, 100, { principal: "mallory" }));
  expect(kept(calls, "hers", "7", "8", "9")).toEqual(["hers", "8", "9"]);
  calls.keep(call("heavy", 300, { principal: "mallory" }));
  expect(kept(calls, "hers", "8", "9", "heavy")).toEqual(["hers", "8", "9"]);
});

test("the calls of an owner are dropped when the owner is released", () => {
  const calls = new FinishedCalls({ parked: 9, parkedMs: 60_000, keptBytes: 100 });
  calls.keep(call("mine", 20));
  calls.keep(call("yours", 30, { owner: "you" }));
  calls.release("me");
  expect([kept(calls, "mine", "yours"), calls.bytes]).toEqual([["yours"], 30]);
});
