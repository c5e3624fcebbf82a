import { expect, test } from "vitest";
import { latenciesOf, latencyTable } from "./mcp-call.ts";

const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

test("percentiles are times that were measured", () => {
  expect(latenciesOf(hundred.toReversed(), { errors: 2, totalMs: 5_050 })).toEqual({
    calls: 100,
    errors: 2,
    callsPerSecond: 19.8,
    ms: { min: 1, median: 50, p90: 90, p99: 99, max: 100, mean: 50.5 },
  });
});

test("the table is aligned", () => {
  const [title, names = "", values = ""] = latencyTable(latenciesOf([1_234.5], { errors: 0, totalMs: 1_234.5 }));
  expect(title).toBe("1 call, sequential; times in ms");
  expect(names.length).toBe(values.length);
  expect(names).toMatch(/^ +min +median/);
});
