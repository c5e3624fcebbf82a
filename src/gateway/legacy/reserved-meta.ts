import { isRecord, type Params } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";

/** Each hop's own: what one side says with these is not for the other. */
const RESERVED: ReadonlySet<string> = new Set<string>([
  ...Object.values(META),
  "progressToken",
  "traceparent",
  "tracestate",
  "baggage",
]);

/** The same value without reserved `_meta`; itself where it has none, since it may be kept by somebody else. */
export function withoutReservedMeta<T extends { _meta?: unknown }>(value: T): T {
  const meta = value._meta;
  if (!isRecord(meta)) return value;
  const kept = Object.entries(meta).filter(([key]) => !RESERVED.has(key));
  const { _meta: _, ...others } = value;
  return (kept.length > 0 ? { ...others, _meta: Object.fromEntries(kept) } : others) as T;
}

/** Members by which callers of other revisions steer a call; from a caller of these they mean nothing. */
const FOREIGN = ["task", "inputResponses", "requestState"] as const;

/** A legacy caller's parameters in the form of the newest specification. */
export function canonicalParams(params: Params): Params {
  const own = withoutReservedMeta(params);
  if (!FOREIGN.some((member) => member in own)) return own;
  const copy = { ...own };
  for (const member of FOREIGN) delete copy[member];
  return copy;
}
