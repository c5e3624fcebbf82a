import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import { errorLines } from "./output.ts";
import { cellsOf } from "./text-width.ts";

test.each([
  ["a long word", "x".repeat(200)],
  ["words joined by spaces that do not break", `a${"\u00a0".repeat(60)}nexus: type your key`.repeat(3)],
  ["blank signs", `a${"\u2800".repeat(60)}nexus: type your key`.repeat(3)],
])("an error whose message and hint have %s has no row that the terminal breaks", (_what, text) => {
  const [first, ...others] = errorLines(new NexusError("DENIED", `Said: ${text}`, { hint: `Read: ${text}` }), 60);
  expect(first).toMatch(/^nexus: Said:/);
  expect(others.length).toBeGreaterThan(4);
  for (const line of others) {
    expect(line).toMatch(/^ {2}/);
    expect(cellsOf(line)).toBeLessThanOrEqual(60);
  }
});
