import { isForwarded } from "../../protocol/methods.ts";
import type { ProcessUsage } from "../../process/process-budget.ts";
import { VERSION } from "../../protocol/version.ts";
import { OUTCOMES, type Outcome } from "./audit.ts";

/** Upper bounds of the latency histogram, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Values at the time of reading. */
export interface Gauges {
  /** Whether the reader may know of a server; others are left out. */
  shows: (server: string) => boolean;
  inFlight: number;
  queued: number;
  parked: number;
  sessions: number;
  streams: number;
  /** Bytes of request bodies and unread answers. */
  bufferedBytes: number;
  servers: readonly { id: string; state: string }[];
  /** Absent where processes are not limited. */
  processes?: ProcessUsage | undefined;
  /** Of the whole process; undefined where the reader may know of a part of it alone. */
  traffic: { connections: number; receivedBytes: number; sentBytes: number } | undefined;
}

interface Series {
  outcomes: Record<Outcome, number>;
  /** One more than there are bounds. */
  buckets: number[];
  seconds: number;
}

/** Counts calls and writes the counts in the Prometheus format. Called for every call, so it does little. */
export class Metrics {
  /** By server, then method. */
  readonly #series = new Map<string, Map<string, Series>>();

  /** `server` is one that exists, or empty. */
  called(call: { server: string; method: string; outcome: Outcome; durationMs: number }): void {
    // All other methods are counted together: callers must not be able to create series.
    const series = this.#seriesOf(call.server, isForwarded(call.method) ? call.method : "other");
    const seconds = call.durationMs / 1000;
    series.outcomes[call.outcome]++;
    series.seconds += seconds;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] ?? 0)) bucket++;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  render(gauges: Gauges): string {
    const { traffic } = gauges;
    const lines = [
      ...head("nexus_info", "gauge", "The running version."),
      `nexus_info{version="${VERSION}"} 1`,
      ...this.#calls(gauges.shows),
      ...simple("nexus_calls_in_flight", "gauge", "Running calls.", gauges.inFlight),
      ...simple("nexus_calls_queued", "gauge", "Queued calls.", gauges.queued),
      ...simple("nexus_calls_parked", "gauge", "Calls that wait for an answer from their caller.", gauges.parked),
      ...simple("nexus_sessions", "gauge", "Sessions of clients before 2026-07-28.", gauges.sessions),
      ...simple("nexus_streams", "gauge", "Open subscription streams.", gauges.streams),
      ...(traffic ? simple("nexus_connections", "gauge", "Open connections of clients.", traffic.connections) : []),
      ...simple("nexus_buffered_bytes", "gauge", "Bytes of request bodies and unread answers.", gauges.bufferedBytes),
      ...(traffic ? bytesOf(traffic) : []),
      ...processLines(gauges.processes),
      ...head("nexus_server_state", "gauge", "State of each configured server; 1 for the current state."),
      ...gauges.servers
        .filter(({ id }) => gauges.shows(id))
        .map(({ id, state }) => `nexus_server_state{server="${id}",state="${state}"} 1`),
      ...(traffic ? ofProcess() : []),
    ];
    return `${lines.join("\n")}\n`;
  }

  #seriesOf(server: string, method: string): Series {
    let byMethod = this.#series.get(server);
    if (!byMethod) this.#series.set(server, (byMethod = new Map()));
    let series = byMethod.get(method);
    if (!series) byMethod.set(method, (series = emptySeries()));
    return series;
  }

  #calls(shows: Gauges["shows"]): string[] {
    const all = [...this.#series]
      .filter(([server]) => server === "" || shows(server))
      .flatMap(([server, byMethod]) =>
        [...byMethod].map(([method, series]) => [`server="${server}",method="${method}"`, series] as const),
      );
    return [
      ...head("nexus_calls_total", "counter", "Finished calls by outcome."),
      ...all.flatMap(([labels, { outcomes }]) =>
        OUTCOMES.filter((outcome) => outcomes[outcome] > 0).map(
          (outcome) => `nexus_calls_total{${labels},outcome="${outcome}"} ${outcomes[outcome]}`,
        ),
      ),
      ...head("nexus_call_duration_seconds", "histogram", "Duration of calls, including time in the queue."),
      ...all.flatMap(([labels, series]) => histogram("nexus_call_duration_seconds", labels, series)),
    ];
  }
}

function histogram(name: string, labels: string, { buckets, seconds }: Series): string[] {
  let count = 0;
  const lines = buckets.map((inside, index) => {
    count += inside;
    return `${name}_bucket{${labels},le="${BOUNDS[index] ?? "+Inf"}"} ${count}`;
  });
  return [...lines, `${name}_sum{${labels}} ${seconds}`, `${name}_count{${labels}} ${count}`];
}

function emptySeries(): Series {
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  return { outcomes, buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0), seconds: 0 };
}

function processLines(usage: ProcessUsage | undefined): string[] {
  if (!usage) return [];
  return [
    ...simple("nexus_processes", "gauge", "Child processes of servers.", usage.processes),
    ...simple("nexus_processes_waiting", "gauge", "Starts that wait for a free process.", usage.waiting),
  ];
}

function simple(name: string, type: string, help: string, value: number): string[] {
  return [...head(name, type, help), `${name} ${value}`];
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function bytesOf({ receivedBytes, sentBytes }: NonNullable<Gauges["traffic"]>): string[] {
  return [
    ...simple("nexus_received_bytes_total", "counter", "Bytes read from clients.", receivedBytes),
    ...simple("nexus_sent_bytes_total", "counter", "Bytes written to clients.", sentBytes),
  ];
}

function ofProcess(): string[] {
  return [
    ...simple("process_resident_memory_bytes", "gauge", "Memory of the process.", process.memoryUsage.rss()),
    ...simple("process_cpu_seconds_total", "counter", "CPU time of the process.", cpuSeconds()),
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
