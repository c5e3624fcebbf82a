import { isForwarded } from "../../protocol/methods.ts";
import type { ProcessUsage } from "../../process/process-budget.ts";
import { VERSION } from "../../protocol/version.ts";
import { OUTCOMES, type AuditBacklog, type Outcome } from "./audit.ts";

/** Upper bounds of the histograms, in seconds. */
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
  servers: readonly { id: string; state: string; starts: number; restarts: number }[];
  /** Absent where processes are not limited. */
  processes?: ProcessUsage | undefined;
  /** Of the whole process; undefined where the reader may know of a part of it alone. */
  traffic: { connections: number; receivedBytes: number; sentBytes: number } | undefined;
  /** The same; also undefined where nothing is recorded. */
  audit?: AuditBacklog | undefined;
}

/** Tools that are counted one by one; those that are used after that many others are counted together. */
const MAX_TOOLS = 200;
const OTHER = "other";

/** Finished calls of a server and a method. */
export interface CallSummary {
  /** Empty for calls of no server. */
  server: string;
  method: string;
  outcomes: Readonly<Record<Outcome, number>>;
  /** Of all of them together. */
  seconds: number;
}

interface Series {
  outcomes: Record<Outcome, number>;
  duration: Histogram;
}

interface ToolSeries {
  server: string;
  tool: string;
  outcomes: Record<Outcome, number>;
  seconds: number;
}

interface UpstreamSeries {
  duration: Histogram;
  retries: number;
}

class Histogram {
  /** One more than there are bounds. */
  readonly #buckets: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  #seconds = 0;

  /** Of all of them together. */
  get seconds(): number {
    return this.#seconds;
  }

  add(ms: number): void {
    const seconds = ms / 1000;
    this.#seconds += seconds;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] ?? 0)) bucket++;
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  lines(name: string, labels: string): string[] {
    let count = 0;
    const before = labels === "" ? "" : `${labels},`;
    const lines = this.#buckets.map((inside, index) => {
      count += inside;
      return `${name}_bucket{${before}le="${BOUNDS[index] ?? "+Inf"}"} ${count}`;
    });
    const shown = labels === "" ? "" : `{${labels}}`;
    return [...lines, `${name}_sum${shown} ${this.#seconds}`, `${name}_count${shown} ${count}`];
  }
}

/** Counts calls and writes the counts in the Prometheus format. Called for every call, so it does little. */
export class Metrics {
  /** By server, then method. */
  readonly #series = new Map<string, Map<string, Series>>();
  /** By server, then tool. */
  readonly #tools = new Map<string, Map<string, ToolSeries>>();
  readonly #upstream = new Map<string, UpstreamSeries>();
  readonly #queued = new Histogram();
  readonly #tenant: string;
  #toolCount = 0;

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** `server` is one that exists, or empty. */
  called(call: { server: string; method: string; outcome: Outcome; durationMs: number }): void {
    // All other methods are counted together: callers must not be able to create series.
    const series = this.#seriesOf(call.server, isForwarded(call.method) ? call.method : "other");
    series.outcomes[call.outcome]++;
    series.duration.add(call.durationMs);
  }

  /** A call of a tool. `isListed` is asked only about tools that are not known yet: callers must not be able to create series. */
  toolCalled(
    { server, tool, outcome, durationMs }: { server: string; tool: string; outcome: Outcome; durationMs: number },
    isListed: (server: string, tool: string) => boolean,
  ): void {
    const series = this.#tools.get(server)?.get(tool) ?? this.#newTool(server, tool, isListed);
    series.outcomes[outcome]++;
    series.seconds += durationMs / 1000;
  }

  /** A call that a server was asked to do. */
  upstream(server: string, ms: number, retries: number): void {
    let series = this.#upstream.get(server);
    if (!series) this.#upstream.set(server, (series = { duration: new Histogram(), retries: 0 }));
    series.duration.add(ms);
    series.retries += retries;
  }

  /** How long a call waited in the queue. */
  queued(ms: number): void {
    this.#queued.add(ms);
  }

  summary(): CallSummary[] {
    return [...this.#series].flatMap(([server, byMethod]) =>
      [...byMethod].map(([method, { outcomes, duration }]) => ({
        server,
        method,
        outcomes: { ...outcomes },
        seconds: duration.seconds,
      })),
    );
  }

  render(gauges: Gauges): string {
    const { traffic } = gauges;
    const shown = gauges.servers.filter(({ id }) => gauges.shows(id));
    const lines = [
      ...head("nexus_info", "gauge", "The running version."),
      `nexus_info{version="${VERSION}"} 1`,
      ...head("nexus_tenant_info", "gauge", "The tenant whose values these are."),
      `nexus_tenant_info{tenant="${escaped(this.#tenant)}"} 1`,
      ...this.#calls(gauges.shows),
      ...this.#toolCalls(gauges.shows),
      ...this.#upstreamCalls(gauges.shows),
      ...head("nexus_queue_duration_seconds", "histogram", "Time in the queue of the calls that were queued."),
      ...this.#queued.lines("nexus_queue_duration_seconds", ""),
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
      ...shown.map(({ id, state }) => `nexus_server_state{server="${id}",state="${state}"} 1`),
      ...head("nexus_server_starts_total", "counter", "Connections to a server that were opened or tried."),
      ...shown.map(({ id, starts }) => `nexus_server_starts_total{server="${id}"} ${starts}`),
      ...head("nexus_server_restarts_total", "counter", "Starts after a server failed or was lost."),
      ...shown.map(({ id, restarts }) => `nexus_server_restarts_total{server="${id}"} ${restarts}`),
      ...(gauges.audit ? auditLines(gauges.audit) : []),
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

  #newTool(server: string, tool: string, isListed: (server: string, tool: string) => boolean): ToolSeries {
    const isOwn = this.#toolCount < MAX_TOOLS && isListed(server, tool);
    if (isOwn) this.#toolCount++;
    const name = isOwn ? tool : OTHER;
    let byTool = this.#tools.get(server);
    if (!byTool) this.#tools.set(server, (byTool = new Map()));
    let series = byTool.get(name);
    if (!series) byTool.set(name, (series = { server, tool: name, outcomes: noOutcomes(), seconds: 0 }));
    return series;
  }

  #toolCalls(shows: Gauges["shows"]): string[] {
    const all = [...this.#tools.values()]
      .flatMap((byTool) => [...byTool.values()])
      .filter(({ server }) => shows(server))
      .map((series) => [this.#toolLabels(series), series] as const);
    return [
      ...head("nexus_tool_calls_total", "counter", "Finished calls of a tool by outcome."),
      ...all.flatMap(([labels, { outcomes }]) => outcomeLines("nexus_tool_calls_total", labels, outcomes)),
      ...head("nexus_tool_seconds_total", "counter", "Time of the finished calls of a tool."),
      ...all.map(([labels, { seconds }]) => `nexus_tool_seconds_total{${labels}} ${seconds}`),
    ];
  }

  #toolLabels({ server, tool }: ToolSeries): string {
    return `tenant="${escaped(this.#tenant)}",server="${server}",tool="${escaped(tool)}"`;
  }

  #upstreamCalls(shows: Gauges["shows"]): string[] {
    const all = [...this.#upstream].filter(([server]) => shows(server));
    return [
      ...head("nexus_upstream_duration_seconds", "histogram", "Time that a server took for a call."),
      ...all.flatMap(([server, { duration }]) =>
        duration.lines("nexus_upstream_duration_seconds", `server="${server}"`),
      ),
      ...head("nexus_upstream_retries_total", "counter", "Requests that were sent to a server again after a failure."),
      ...all.map(([server, { retries }]) => `nexus_upstream_retries_total{server="${server}"} ${retries}`),
    ];
  }

  #calls(shows: Gauges["shows"]): string[] {
    const all = [...this.#series]
      .filter(([server]) => server === "" || shows(server))
      .flatMap(([server, byMethod]) =>
        [...byMethod].map(([method, series]) => [`server="${server}",method="${method}"`, series] as const),
      );
    return [
      ...head("nexus_calls_total", "counter", "Finished calls by outcome."),
      ...all.flatMap(([labels, { outcomes }]) => outcomeLines("nexus_calls_total", labels, outcomes)),
      ...head("nexus_call_duration_seconds", "histogram", "Duration of calls, including time in the queue."),
      ...all.flatMap(([labels, { duration }]) => duration.lines("nexus_call_duration_seconds", labels)),
    ];
  }
}

function outcomeLines(name: string, labels: string, outcomes: Series["outcomes"]): string[] {
  return OUTCOMES.filter((outcome) => outcomes[outcome] > 0).map(
    (outcome) => `${name}{${labels},outcome="${outcome}"} ${outcomes[outcome]}`,
  );
}

function emptySeries(): Series {
  return { outcomes: noOutcomes(), duration: new Histogram() };
}

function noOutcomes(): Series["outcomes"] {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Series["outcomes"];
}

/** A label value may be any text; these three have to be escaped. */
function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function processLines(usage: ProcessUsage | undefined): string[] {
  if (!usage) return [];
  return [
    ...simple("nexus_processes", "gauge", "Child processes of servers.", usage.processes),
    ...simple("nexus_processes_waiting", "gauge", "Starts that wait for a free process.", usage.waiting),
  ];
}

function auditLines({ waiting, dropped }: AuditBacklog): string[] {
  return [
    ...simple("nexus_audit_records_waiting", "gauge", "Records of the audit that wait to be written.", waiting),
    ...simple("nexus_audit_records_dropped_total", "counter", "Records of the audit that were lost.", dropped),
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
