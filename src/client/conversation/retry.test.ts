import { expect, test } from "vitest";
import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import { DEFAULT_RETRY, retryDelayMs } from "./retry.ts";

const status = (code: number, more: ErrorDetails = {}) =>
  new NexusError("HTTP_STATUS", "", { status: code, mayHaveReached: true, ...more });
const lost = new NexusError("CONNECTION_LOST", "", { mayHaveReached: true });
const unwritten = new NexusError("CONNECTION_FAILED", "", { mayHaveReached: false });
const timeout = new NexusError("TIMEOUT", "", { mayHaveReached: true });

test.each([
  ["tools/list", lost, true],
  ["tools/list", status(500), true],
  ["tools/list", status(400), false],
  ["tools/list", timeout, false],
  ["resources/read", status(429), true],
  ["tools/call", status(429), true],
  ["tools/call", status(503), false],
  ["tools/call", status(503, { retryAfterMs: 0 }), true],
  ["tools/call", status(500), false],
  ["tools/call", lost, false],
  ["tools/call", unwritten, true],
  ["initialize", status(503), false],
  ["initialize", unwritten, true],
  ["logging/setLevel", lost, false],
])("%s after %s: sent again is %s (P1.10)", (method, error, again) => {
  const delay = retryDelayMs(error, { method, tries: 1, harmlessTool: false }, DEFAULT_RETRY);
  expect(delay !== undefined).toBe(again);
});

test("a tool annotated as harmless is repeated once, unless annotations are not trusted (P1.10)", () => {
  const attempt = { method: "tools/call", tries: 1, harmlessTool: true };
  expect(retryDelayMs(lost, attempt, DEFAULT_RETRY)).toBeDefined();
  expect(retryDelayMs(lost, { ...attempt, tries: 2 }, DEFAULT_RETRY)).toBeUndefined();
  expect(retryDelayMs(lost, attempt, { ...DEFAULT_RETRY, trustToolHints: false })).toBeUndefined();
});

test("pauses grow, are never shorter than Retry-After, and end after the allowed attempts", () => {
  const attempt = (tries: number) => ({ method: "tools/list", tries, harmlessTool: false });
  const settings = { ...DEFAULT_RETRY, backoffMs: 1_000, maxRetries: 3 };
  for (const [tries, longest] of [
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
  ] as const) {
    const delay = retryDelayMs(lost, attempt(tries), settings);
    expect(delay).toBeGreaterThanOrEqual(longest / 2);
    expect(delay).toBeLessThanOrEqual(longest);
  }
  expect(retryDelayMs(lost, attempt(4), settings)).toBeUndefined();
  expect(retryDelayMs(status(429, { retryAfterMs: 60_000 }), attempt(1), settings)).toBe(60_000);
});
