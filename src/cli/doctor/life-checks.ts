import type { Performance } from "node:perf_hooks";
import type { Client } from "../../client/client.ts";
import { asNexusError } from "../../errors/nexus-error.ts";
import { toFailedFinding, type Finding } from "./check.ts";

const PINGS = 5;
const SLOW_MS = 1_000;

/** `performance`; Bun and Deno do not measure how busy the program is. */
type Clock = Pick<Performance, "now"> & Partial<Pick<Performance, "eventLoopUtilization">>;

/** How fast the server answers an empty request. */
export async function latencyFinding(
  client: Pick<Client, "ping">,
  signal: AbortSignal,
  clock: Clock = performance,
): Promise<Finding> {
  const times: number[] = [];
  try {
    for (let count = 0; count < PINGS; count++) {
      const startedAt = clock.now();
      const before = clock.eventLoopUtilization?.();
      await client.ping({ signal });
      // Time in which this program itself was busy does not count.
      const { active = 0 } = clock.eventLoopUtilization?.(before) ?? {};
      times.push(Math.max(clock.now() - startedAt - active, 0));
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return toFailedFinding(asNexusError(error), [`ping ${times.length + 1} of ${PINGS}`]);
  }
  const [min = 0, , median = 0, , max = 0] = times.sort((a, b) => a - b).map((ms) => Math.round(ms * 10) / 10);
  const evidence = [`${PINGS} pings: min ${min} ms, median ${median} ms, max ${max} ms`];
  if (median < SLOW_MS) return { verdict: "ok", evidence };
  return {
    verdict: "warning",
    evidence,
    advice: ["Every call takes at least this long. Check the network between here and the server."],
  };
}
