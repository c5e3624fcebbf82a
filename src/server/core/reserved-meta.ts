import { isRecord } from "../../json/is-record.ts";
import { CALLER_META, META, SEEN_META } from "../../protocol/meta.ts";
import type { ClientName } from "./core.ts";

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

/** Which tools the caller of a gateway in front has seen. */
export function seenIn({ [SEEN_META]: seen }: Record<string, unknown>): string | undefined {
  return typeof seen === "string" ? seen : undefined;
}

/** The client's name and version, shortened: they are kept in records. */
export function clientNameIn(info: unknown): ClientName | undefined {
  if (!isRecord(info)) return undefined;
  const { name, version } = info;
  if (typeof name !== "string") return undefined;
  return { name: name.slice(0, MAX_NAME), version: typeof version === "string" ? version.slice(0, MAX_NAME) : "" };
}

const MAX_NAME = 128;
