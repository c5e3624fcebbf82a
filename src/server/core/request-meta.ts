import { randomFillSync } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../../json/is-record.ts";
import { CALLER_META, CORRELATION_META, META, SEEN_META } from "../../protocol/meta.ts";
import type { Caller, ClientName } from "./core.ts";

/** How a request is followed through logs, records and other servers. */
export interface Correlation {
  /** As the client says, or the trace id, or made. */
  correlationId: string;
  /** 32 hexadecimal digits: of the client's trace, or made. */
  traceId: string;
  /** The trace that the request belongs to, where the client says so. */
  trace: Caller["trace"];
}

/** Reads what identifies a request from its headers and its `_meta`, and makes what is missing. */
export function correlationOf(meta: unknown, headers: IncomingHttpHeaders | undefined): Correlation {
  const said = isRecord(meta) ? meta : undefined;
  const inMeta = said?.["traceparent"] === undefined ? undefined : traceIn(said);
  const trace = inMeta ?? (headers?.["traceparent"] === undefined ? undefined : traceOfHeaders(headers));
  const known = trace && traceIdOf(trace);
  const correlationId =
    requestIdIn(headers?.["x-request-id"]) ?? requestIdIn(said?.[CORRELATION_META]) ?? known ?? newTraceId();
  const traceId = known ?? (TRACE_ID.test(correlationId) ? correlationId : newTraceId());
  return { correlationId, traceId, trace };
}

/** Lists and `server/discover` may be cached and given to others: their results belong to no single request. */
export function isCorrelated(method: string): boolean {
  return !method.endsWith("/list") && method !== "server/discover";
}

/** For requests that the server makes by itself. */
export function newCorrelation(): Omit<Correlation, "trace"> {
  const traceId = newTraceId();
  return { correlationId: traceId, traceId };
}

/** The trace context for a request that is sent because of this one: the same trace, with another span. */
export function childTrace(traceId: string, trace: Caller["trace"]): NonNullable<Caller["trace"]> {
  const spanId = newSpanId();
  if (!trace) return { traceparent: `00-${traceId}-${spanId}-01` };
  const traceparent = `00-${traceId}-${spanId}-${trace.traceparent.slice(FLAGS_AT, FLAGS_AT + 2)}`;
  return { ...trace, traceparent };
}

/** W3C trace context. Anything that is not a `traceparent` is ignored, as the recommendation says. */
function traceIn({ traceparent, tracestate, baggage }: Record<string, unknown>): Caller["trace"] {
  if (typeof traceparent !== "string" || !isTraceparent(traceparent)) return undefined;
  return {
    traceparent,
    ...(typeof tracestate === "string" && TRACESTATE.test(tracestate) ? { tracestate } : {}),
    ...(typeof baggage === "string" ? { baggage } : {}),
  };
}

/** Without `baggage`: programs add that header by themselves, and it would be sent to servers of others. */
function traceOfHeaders({ traceparent, tracestate }: IncomingHttpHeaders): Caller["trace"] {
  return traceIn({ traceparent, tracestate });
}

function traceIdOf({ traceparent }: NonNullable<Caller["trace"]>): string {
  return traceparent.slice(3, 35);
}

/** Later versions may add members after the flags. */
function isTraceparent(text: string): boolean {
  if (!TRACEPARENT.test(text) || text.length > MAX_TRACEPARENT) return false;
  if (text.startsWith("ff") || text.startsWith(NO_TRACE, 3) || text.startsWith(NO_SPAN, 36)) return false;
  return text.length === FLAGS_AT + 2 || (!text.startsWith("00") && text[FLAGS_AT + 2] === "-");
}

/** It is written into logs and headers, so it contains nothing that means something there. */
function requestIdIn(value: unknown): string | undefined {
  return typeof value === "string" && REQUEST_ID.test(value) ? value : undefined;
}

const REQUEST_ID = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/;
/** It becomes a header of requests to servers. The recommendation allows to leave out longer ones. */
const TRACESTATE = /^[\t\x20-\x7e]{1,1024}$/;
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const FLAGS_AT = 53;
const MAX_TRACEPARENT = 512;

/** Random bytes that are not used yet: asking for a few at a time costs more than the rest of a request's id. */
class RandomPool {
  readonly #bytes = Buffer.alloc(4096);
  #used = this.#bytes.length;

  /** Hexadecimal digits of this many bytes, never all zero. */
  hex(length: number): string {
    if (this.#used + length > this.#bytes.length) {
      randomFillSync(this.#bytes);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += length;
    // One bit that is always set: ids of zeros are invalid.
    this.#bytes[from] = (this.#bytes[from] ?? 0) | 1;
    return this.#bytes.toString("hex", from, this.#used);
  }
}

const POOL = new RandomPool();

function newTraceId(): string {
  return POOL.hex(16);
}

function newSpanId(): string {
  return POOL.hex(8);
}

/** `_meta` keys that apply to one hop only: a gateway does not pass them on. */
const RESERVED_META: ReadonlySet<string> = new Set<string>([
  ...Object.values(META),
  CALLER_META,
  SEEN_META,
  "progressToken",
  "traceparent",
  "tracestate",
  "baggage",
]);

/** A copy without reserved `_meta`, except for `keptKey`; the same object if it has none. */
export function withoutReservedMeta<T extends { _meta?: unknown }>(carrier: T, keptKey?: string): T {
  const meta = carrier._meta;
  if (!isRecord(meta)) return carrier;
  const kept: [string, unknown][] = [];
  let hasReserved = false;
  for (const name in meta) {
    if (RESERVED_META.has(name) && name !== keptKey) hasReserved = true;
    else kept.push([name, meta[name]]);
  }
  if (!hasReserved) return carrier;
  const { _meta, ...rest } = carrier;
  return (kept.length === 0 ? rest : { _meta: Object.fromEntries(kept), ...rest }) as T;
}

/** For whom a gateway in front calls. */
export function behalfIn({ [CALLER_META]: caller }: Record<string, unknown>): string | undefined {
  return typeof caller === "string" ? caller : undefined;
}

/** The client's name and version, shortened: they are kept in records. */
export function clientNameIn(info: unknown): ClientName | undefined {
  if (!isRecord(info)) return undefined;
  const { name, version } = info;
  if (typeof name !== "string") return undefined;
  return { name: name.slice(0, MAX_NAME), version: typeof version === "string" ? version.slice(0, MAX_NAME) : "" };
}

const MAX_NAME = 128;
