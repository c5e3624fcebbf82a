import { expect, test } from "vitest";
import { durationText, elapsedText, parseDuration, waitText } from "./duration.ts";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["1.5 m", 90_000],
  ["2h", 7_200_000],
  ["250", 250],
  [250, 250],
  ["soon", undefined],
  ["-1s", undefined],
  [true, undefined],
])("the duration %j is %j milliseconds", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test("durations are shown in a suitable unit", () => {
  expect([85.4, 2_440, 75_900].map(durationText)).toEqual(["85 ms", "2.4 s", "1 min 15 s"]);
  expect([0, 300, 61_000].map(elapsedText)).toEqual(["0.0 s", "0.3 s", "1 min 1 s"]);
  expect([1, 90_000, 120_001, 7_200_000, 86_399_000, 86_340_001].map(waitText)).toEqual([
    "1 s",
    "90 s",
    "3 min",
    "2 h",
    "24 h",
    "24 h",
  ]);
});
