import { afterEach, expect, test, vi } from "vitest";
import { StartGate } from "./start-gate.ts";

afterEach(() => void vi.useRealTimers());

const never = () => new Promise<string>(() => {});

test("a start that hangs gives up its permit after a while", async () => {
  vi.useFakeTimers();
  const gate = new StartGate(1);
  void gate.through(never);
  const next = gate.through(() => Promise.resolve("in"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await next).toBe("in");
});

test("a start that is cancelled while it waits in line is not run, and does not delay the next", async () => {
  vi.useFakeTimers();
  const gate = new StartGate(1);
  void gate.through(never);
  const abort = new AbortController();
  const run = vi.fn(never);
  const left = gate.through(run, { signal: abort.signal });
  const next = gate.through(() => Promise.resolve("in"));
  abort.abort();
  await expect(left).rejects.toMatchObject({ code: "CANCELLED" });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await next).toBe("in");
  expect(run).not.toHaveBeenCalled();
});

test("a permit that a slow start gave up is not passed on twice", async () => {
  vi.useFakeTimers();
  const gate = new StartGate(1);
  let finish: () => void = () => {};
  const slow = gate.through(() => new Promise<void>((resolve) => (finish = resolve)));
  await vi.advanceTimersByTimeAsync(5_000);
  finish();
  await slow;
  void gate.through(never);
  const run = vi.fn(never);
  void gate.through(run);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(run).not.toHaveBeenCalled();
});

test("slow starts make room for as many others, and no more", async () => {
  vi.useFakeTimers();
  const gate = new StartGate(2);
  const run = vi.fn(never);
  for (let count = 0; count < 10; count++) void gate.through(run);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(4);
});

test("a start that a caller waits for does not wait for others, even if it was already queued", async () => {
  vi.useFakeTimers();
  const gate = new StartGate(1);
  void gate.through(never);
  const wanted = new AbortController();
  const inLine = gate.through(() => Promise.resolve("from the line"), { wanted: wanted.signal });
  expect(await gate.through(() => Promise.resolve("at once"), { wanted: AbortSignal.abort() })).toBe("at once");
  wanted.abort();
  expect(await inLine).toBe("from the line");
});

test("starts that callers wait for are limited as well, and can be cancelled", async () => {
  vi.useFakeTimers();
  const gate = new StartGate(1);
  const run = vi.fn(never);
  const wanted = AbortSignal.abort();
  for (let count = 0; count < 5; count++) void gate.through(run, { wanted });
  const cancelled = gate.through(run, { wanted, signal: AbortSignal.abort() });
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(run).toHaveBeenCalledTimes(2);
});
