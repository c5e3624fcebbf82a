import { isRecord } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";

/** What each hop says for itself. */
const RESERVED: ReadonlySet<string> = new Set([...Object.values(META), "progressToken"]);

/** The same without reserved `_meta`; the very same object where there is none. */
export function withoutReservedMeta<T extends { _meta?: unknown }>(carrier: T): T {
  const meta = carrier._meta;
  if (!isRecord(meta)) return carrier;
  const names = Object.keys(meta);
  const kept = names.filter((name) => !RESERVED.has(name));
  if (kept.length === names.length) return carrier;
  const { _meta, ...rest } = carrier;
  if (kept.length === 0) return rest as T;
  return { ...rest, _meta: Object.fromEntries(kept.map((name) => [name, meta[name]])) } as T;
}
