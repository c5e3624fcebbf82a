import { isRecord } from "../../json/is-record.ts";
import type { Notification, Params } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";

/** The same notification in the caller's names, without the id of the subscription between gateway and server. */
export function renamed({ method, params }: Notification, names: Params): Notification {
  const { _meta: meta, ...rest } = params ?? {};
  const { [META.subscriptionId]: _, ...kept } = isRecord(meta) ? meta : {};
  const own = Object.keys(kept).length > 0 ? { _meta: kept } : {};
  return { jsonrpc: "2.0", method, params: { ...rest, ...names, ...own } };
}
