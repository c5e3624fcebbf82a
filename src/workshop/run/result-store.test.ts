import { expect, test } from "vitest";
import { ResultStore } from "./result-store.ts";

test("a kept result is found only by its caller", () => {
  const store = new ResultStore();
  const id = store.keep("ann", "whole") ?? "";
  expect(store.find("ann", id)).toMatchObject({ content: "whole", mimeType: "application/json" });
  expect(store.find("bob", id)).toBeUndefined();
});

test("it is dropped when it expires, and when newer ones need the room", () => {
  let now = 0;
  const store = new ResultStore({ maxResults: 2, maxBytes: 10, lifetimeMs: 1_000, now: () => now });
  const first = store.keep("ann", "1") ?? "";
  now = 999;
  expect(store.find("ann", first)?.content).toBe("1");
  now = 1_000;
  expect(store.find("ann", first)).toBeUndefined();
  const ids = ["22222", "33333", "4"].map((text) => store.keep("ann", text) ?? "");
  expect(ids.map((id) => store.find("ann", id)?.content)).toEqual([undefined, "33333", "4"]);
  expect(store.keep("ann", "more than it may ever hold")).toBeUndefined();
});
