import { expect, test } from "vitest";
import { NexusError } from "../errors/nexus-error.ts";
import { Backoff, retryAfterMs } from "./backoff.ts";

const SETTINGS = { firstMs: 100, longestMs: 1_000, patience: 3, restMs: 60_000, settledMs: 10_000 };
const error = new NexusError("SERVER_EXITED", "it exited");

test("a backoff refuses only after failures in a row", () => {
  const backoff = new Backoff(SETTINGS);
  for (let round = 0; round < 5; round++) {
    backoff.failed(error);
    backoff.failed(error);
    backoff.succeeded();
  }
  expect(() => backoff.refuseIfHopeless()).not.toThrow();
  for (let round = 0; round < 3; round++) backoff.failed(error);
  expect(() => backoff.refuseIfHopeless()).toThrow(error.message);
});

test("a connection that ends early does not reset the backoff", () => {
  const backoff = new Backoff(SETTINGS);
  for (let round = 0; round < 3; round++) {
    backoff.succeeded();
    backoff.ended(error, 5);
  }
  expect(() => backoff.refuseIfHopeless()).toThrow(error.message);
});

test("a connection that lasted resets the backoff", () => {
  const backoff = new Backoff(SETTINGS);
  for (let round = 0; round < 3; round++) backoff.failed(error);
  backoff.succeeded();
  expect(backoff.ended(error, 20_000)).toBeLessThanOrEqual(100);
});

test("a backoff keeps the last error without the server's output", () => {
  const backoff = new Backoff({ ...SETTINGS, patience: 1 });
  backoff.failed(new NexusError("SERVER_EXITED", "it exited", { server: "s", stderr: ["x".repeat(10_000)] }));
  expect(backoff.hopelessMs).toBeGreaterThan(0);
  expect(() => backoff.refuseIfHopeless()).toThrow(
    expect.objectContaining({
      code: "SERVER_EXITED",
      details: expect.not.objectContaining({ stderr: expect.anything() as unknown }) as unknown,
    }) as Error,
  );
});

test.each([
  ["5", 5_000],
  [" 7 ", 7_000],
  ["9".repeat(400), Number.MAX_SAFE_INTEGER],
  ["1e9", undefined],
  ["soon", undefined],
  ["Thu, 01 Jan 1970 00:00:03 GMT", 2_000],
])("Retry-After: %s", (header, expected) => {
  expect(retryAfterMs(header, 1_000)).toBe(expected);
});
