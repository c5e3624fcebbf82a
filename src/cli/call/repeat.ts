import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import type { Output } from "../output/output.ts";

/** The result of making the same call many times. */
export interface Latencies {
  calls: number;
  /** Results with `isError`, errors of the server, timeouts, and calls with unanswered questions. */
  errors: number;
  callsPerSecond: number;
  ms: { min: number; median: number; p90: number; p99: number; max: number; mean: number };
}

export function latenciesOf(
  times: readonly number[],
  { errors, totalMs }: { errors: number; totalMs: number },
): Latencies {
  const sorted = [...times].sort((a, b) => a - b);
  // The nearest rank, so that it is a measured time.
  const rank = (share: number) => rounded(sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] ?? 0);
  const sum = sorted.reduce((total, time) => total + time, 0);
  return {
    calls: times.length,
    errors,
    callsPerSecond: totalMs > 0 ? rounded((times.length * 1_000) / totalMs) : 0,
    ms: {
      min: rank(0),
      median: rank(0.5),
      p90: rank(0.9),
      p99: rank(0.99),
      max: rank(1),
      mean: rounded(sum / Math.max(times.length, 1)),
    },
  };
}

/** The table for people. */
export function latencyTable({ calls, errors, callsPerSecond, ms }: Latencies): string[] {
  const cells = [...Object.entries(ms), ["errors", errors] as const, ["calls/s", callsPerSecond] as const];
  const texts = cells.map(([name, value]) => [name, String(value)] as const);
  const widths = texts.map(([name, value]) => Math.max(name.length, value.length));
  const row = (column: 0 | 1) => texts.map((cell, index) => cell[column].padStart(widths[index] ?? 0)).join("  ");
  return [`${calls} ${calls === 1 ? "call" : "calls"}, sequential; times in ms`, row(0), row(1)];
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One call after the other. Failures at the server are counted; a lost connection ends it. */
export async function measure(
  times: number,
  once: () => Promise<CallToolResult>,
  { out, flags, unanswered }: { out: Output; flags: { verbose: boolean }; unanswered: () => number },
): Promise<number> {
  const ms: number[] = [];
  let errors = 0;
  const startedAt = performance.now();
  for (let done = 0; done < times; done++) {
    const before = performance.now();
    const openBefore = unanswered();
    try {
      const result = await once();
      if (result.isError || unanswered() > openBefore) errors += 1;
      if (done === 0 && flags.verbose) out.note(visible(JSON.stringify(result)));
    } catch (error) {
      if (!(error instanceof NexusError) || (error.code !== "SERVER_ERROR" && error.code !== "TIMEOUT")) throw error;
      errors += 1;
    }
    ms.push(performance.now() - before);
  }
  const latencies = latenciesOf(ms, { errors, totalMs: performance.now() - startedAt });
  if (out.json) out.value(latencies);
  else for (const line of latencyTable(latencies)) out.line(line);
  return errors > 0 ? 5 : 0;
}
