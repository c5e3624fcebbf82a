import type { Result } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { outwardResult } from "../names/names.ts";
import type { CallRunner, UpstreamCall } from "../calls/upstream-call.ts";
import type { EndpointExchange, GatewayRequest, Next } from "../requests/request.ts";
import type { Selection } from "../requests/selection.ts";

interface RunStageOptions {
  calls: Pick<CallRunner, "run">;
  /** Calls the server of the request, over the caller's connection. */
  pass: (call: UpstreamCall) => Promise<Result>;
  /** A page of a list, as the caller may see it. */
  page: (list: ListKind, exchange: EndpointExchange, selection: Selection) => Promise<Result>;
  /** The answer of a tool that finds or describes others. */
  search: (tool: string, exchange: EndpointExchange, selection: Selection) => Promise<Result>;
}

/** Does what was permitted; the answer is in the names of the caller's endpoint. */
export function run({ calls, pass, page, search }: RunStageOptions): Next {
  return async (request) => {
    const { exchange, call } = request;
    const { selection, target } = request.resolved ?? {};
    if (selection && target?.kind === "list") return page(target.list, exchange, selection);
    if (selection && target?.kind === "catalog") return search(target.tool, exchange, selection);
    if (!call) throw new TypeError("A request came here that was not decided");
    if (target?.kind === "task") return inNames(request, target.server, await calls.run(call));
    const result = await pass(call);
    if (target?.kind !== "thing") return result;
    // Other principals may not be allowed to read the result.
    const isShared = result["cacheScope"] !== "public" || selection?.access.isSameForAll;
    return inNames(request, call.server, isShared ? result : { ...result, cacheScope: "private" });
  };
}

/** The endpoint of one server has its own names. */
function inNames(
  { exchange: { endpoint, method } }: GatewayRequest,
  server: string | undefined,
  result: Result,
): Result {
  return server === undefined || endpoint.kind === "one" ? result : outwardResult(server, method, result);
}
