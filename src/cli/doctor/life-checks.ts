import type { Performance } from "node:perf_hooks";
import type { Client } from "../../client/client.ts";
import { asNexusError } from "../../errors/nexus-error.ts";
import { pluralize } from "../output/amounts.ts";
import { toFailedFinding, ok, type Finding } from "./check.ts";

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

/** The client reports no more lines. */
const MOST_NOISE = 20;

/** The first lines on stdout that were not messages. */
export function stdoutFinding(noise: readonly string[]): Finding {
  if (noise.length === 0) return ok("messages only");
  const count = noise.length === 1 ? "1 line" : `${noise.length} lines${noise.length < MOST_NOISE ? "" : " or more"}`;
  return {
    verdict: "warning",
    evidence: [`${count} of other text`, ...noise.slice(0, 3).map((line) => `stdout: ${line}`)],
    advice: ["Servers must log to stderr. Other clients may reject a server that writes other text to stdout."],
  };
}

export function stderrFinding(lines: readonly string[]): Finding {
  const written = lines.filter((line) => line.trim() !== "");
  if (written.length === 0) return ok("nothing");
  return { verdict: "note", evidence: [`${pluralize(written.length, "line")}, the last:`, ...written.slice(-3)] };
}

/** A child that has not exited after this time gets SIGTERM. */
const PATIENCE_MS = 2_000;

/** Ends the server like every client does: closes stdin, after which a server should exit. */
export async function shutdownFinding(client: Client): Promise<Finding> {
  const startedAt = performance.now();
  await client.close();
  const ms = Math.round(performance.now() - startedAt);
  const reason = await client.closed;
  const signal = reason.kind === "exited" ? reason.signal : undefined;
  if (signal === undefined && ms < PATIENCE_MS) return ok(`exited ${ms} ms after its stdin was closed`);
  return {
    verdict: "note",
    evidence: [
      `did not exit when its stdin was closed; it was terminated${signal ? ` with ${signal}` : ""} after ${ms} ms`,
    ],
    advice: ["The server's author should exit the process when stdin closes. Until then, every command waits for it."],
  };
}
