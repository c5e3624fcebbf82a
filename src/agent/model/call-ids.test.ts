import { describe, expect, test } from "vitest";
import { CallIds } from "./call-ids.ts";

describe("ids of calls", () => {
  test("stay as they are unless they are taken or empty", () => {
    const ids = new CallIds(["a", "a-2"]);
    expect(["b", "a", "a", "", "", "call-2", "a-4"].map((id) => ids.take(id))).toEqual([
      "b",
      "a-3",
      "a-4",
      "call",
      "call-2",
      "call-2-2",
      "a-4-2",
    ]);
  });

  test("the same id very often takes no longer for each", () => {
    const ids = new CallIds([]);
    const taken = Array.from({ length: 200_000 }, () => ids.take("same"));
    expect(new Set(taken).size).toBe(200_000);
  });
});
