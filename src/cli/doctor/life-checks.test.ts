import { expect, test, vi } from "vitest";
import { latencyFinding } from "./life-checks.ts";

const { signal } = new AbortController();

/** A clock on which every ping takes 8 ms, of which this program was busy for the given time. */
function clockOf(busyMs: number) {
  let now = 0;
  const client = { ping: async () => void (now += 8) };
  const idle = { idle: 0, active: 0, utilization: 0 };
  const eventLoopUtilization = vi.fn((before?: object) => (before ? { ...idle, active: busyMs } : idle));
  return { client, clock: { now: () => now, eventLoopUtilization } };
}

const MEDIAN = /median (\S+) ms/;

test("the latency that doctor shows does not count the time in which the program itself was busy", async () => {
  const { client, clock } = clockOf(6);
  const { evidence } = await latencyFinding(client, signal, clock);
  expect(MEDIAN.exec(evidence[0] ?? "")?.[1]).toBe("2");
});

test("doctor measures latency where the runtime cannot tell how busy it is, as Bun and Deno (R8)", async () => {
  const { client, clock } = clockOf(0);
  for (const runtime of [clock, { now: clock.now }]) {
    const { verdict, evidence } = await latencyFinding(client, signal, runtime);
    expect(verdict).toBe("ok");
    expect(MEDIAN.exec(evidence[0] ?? "")?.[1]).toBe("8");
  }
});
