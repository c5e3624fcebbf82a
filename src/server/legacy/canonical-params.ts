import type { Params } from "../../protocol/json-rpc.ts";
import { withoutReservedMeta } from "../core/reserved-meta.ts";

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
