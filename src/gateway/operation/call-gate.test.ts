import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import { CallPacing } from "./call-gate.ts";

/** Calls as the gate makes them. */
class Calls {
  readonly pacing = new CallPacing();
  readonly shares = new FairShares(1_000);
  readonly begun: string[] = [];

  call(key: string): void {
    const share = this.shares.of(key);
    if (this.pacing.tryBegin(share, performance.now())) this.#begin(share);
    else void this.pacing.wait(share).then(() => this.#begin(share));
  }

  end(key: string): void {
    this.shares.give(this.shares.of(key));
    this.pacing.left();
  }

  #begin(share: Share): void {
    this.shares.take(share);
    this.begun.push(share.key);
  }
}

test("a principal that calls alone never waits", () => {
  const calls = new Calls();
  for (let count = 0; count < 100; count++) calls.call("busy");
  expect(calls.begun).toHaveLength(100);
  expect(calls.pacing.waiting).toBe(0);
});

test("a call begins at once however many calls of another principal wait, which begin one in a turn", async () => {
  const calls = new Calls();
  for (const key of ["busy", "calm"]) {
    calls.call(key);
    calls.end(key);
  }
  await nextTurn();
  calls.begun.length = 0;
  for (let count = 0; count < 64; count++) calls.call("busy");
  calls.call("calm");
  expect(calls.begun).toEqual(["busy", "calm"]);
  const before = calls.begun.length;
  await nextTurn();
  await nextTurn();
  const more = calls.begun.length - before;
  expect(more).toBeGreaterThan(0);
  expect(more).toBeLessThanOrEqual(2);
});

test("a principal with several running calls begins the next when one of them ends, or after a short time", async () => {
  const calls = new Calls();
  calls.call("calm");
  const startedAt = performance.now();
  for (let count = 0; count < 10; count++) calls.call("busy");
  const running = () => calls.begun.filter((key) => key === "busy").length;
  while (running() < 8) await nextTurn();
  expect([running(), calls.pacing.waiting, calls.pacing.waitingOf("default")]).toEqual([8, 2, 0]);
  calls.end("busy");
  while (running() < 9) await nextTurn();
  // A server that works on many calls at once gets the last one as well.
  await expect.poll(running).toBe(10);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99);
});
