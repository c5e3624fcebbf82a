import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Delivery, StreamEnd } from "../../transport/transport.ts";
import { ResumableStream, type ResumableStreamOptions } from "./resumable-stream.ts";

const REFUSED: StreamEnd = { kind: "failed", error: new NexusError("CONNECTION_FAILED", "Nothing is listening") };
const CUT: StreamEnd = { kind: "failed", error: new NexusError("CONNECTION_LOST", "It was cut") };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A stream whose openings end like this, one after the other; tells when each was made. */
function reopening(ends: (StreamEnd | "stays")[], options: Partial<ResumableStreamOptions> = {}) {
  const startedAt = performance.now();
  const openedAt: number[] = [];
  let givenUp: { end: StreamEnd; at: number } | undefined;
  const now = () => performance.now() - startedAt;
  const listen = (delivery: Delivery) => {
    const end = ends[openedAt.push(now()) - 1] ?? ends.at(-1);
    if (end && end !== "stays") queueMicrotask(() => delivery.onEnd?.(end));
    return { abandon() {} };
  };
  const stream = new ResumableStream({
    channel: { listen, endSession: () => Promise.resolve() },
    headers: () => ({}),
    streamOf: 1,
    point: { lastEventId: "a1" },
    wasCut: true,
    maxFailures: 3,
    maxGoneMs: 750,
    onGivenUp: (end) => (givenUp = { end, at: now() }),
    ...options,
  });
  return { stream, openedAt, givenUp: () => givenUp };
}

test("R7: a server that refuses connections is given up within two seconds, with the cause", async () => {
  const { givenUp, openedAt } = reopening([REFUSED]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(givenUp()?.end).toBe(REFUSED);
  expect(givenUp()?.at).toBeLessThan(1500);
  expect(openedAt).toEqual([250, 500, 750, 1000]);
});

test("R7: a server that is back in a moment continues the stream", async () => {
  const { givenUp, openedAt } = reopening([REFUSED, REFUSED, "stays"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(givenUp()).toBeUndefined();
  expect(openedAt).toEqual([250, 500, 750]);
});

test("R7: streams that are cut repeatedly get longer pauses, and the server's own pause is used", async () => {
  const { givenUp, openedAt } = reopening([CUT]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(givenUp()?.end).toBe(CUT);
  expect(openedAt).toEqual([250, 2250, 6250, 14_250]);
  expect(reopening(["stays"], { retryMs: 3000 }).openedAt).toEqual([]);
});

test("R7: the standalone stream waits for its server without a limit", async () => {
  const { givenUp, openedAt } = reopening([REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, "stays"], {
    maxFailures: Infinity,
    maxGoneMs: Infinity,
  });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(givenUp()).toBeUndefined();
  expect(openedAt).toHaveLength(6);
});
