import { unknownName } from "../../host/directory/unknown-name.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { SEARCHING_TOOLS } from "../../protocol/meta.ts";
import type { CallRunner } from "../calls/upstream-call.ts";
import type { NamedThing } from "../names/names.ts";
import type { GatewayResources } from "../operation/gateway-resources.ts";
import type { CalledTools } from "../requests/called-tools.ts";
import type { Stage, Next, GatewayRequest, ResolvedRequest } from "../requests/request.ts";
import type { Selection } from "../requests/selection.ts";

interface DecideOptions {
  calls: Pick<CallRunner, "findTask">;
  calledTools: CalledTools;
  /** Of the gateway itself. */
  resources: GatewayResources | undefined;
  /** What a request is for, where that could not be found out before. */
  resolve: (request: GatewayRequest) => ResolvedRequest;
}

/** Whether the caller may do it, decided once. What it may not do is answered as if it did not exist. */
export function decide({ calls, calledTools, resources, resolve }: DecideOptions): Stage {
  const decideOne: Stage = (request, next) => {
    const { selection, target } = (request.resolved ??= resolve(request));
    const { exchange } = request;
    if (!selection) throw unknownName("set", exchange.endpoint.kind === "set" ? exchange.endpoint.name : "");
    switch (target.kind) {
      case "thing":
        return SEARCHING_TOOLS.includes(target.thing.name) && calledTools.concerns(target.thing)
          ? throughSearching(target.thing, request, selection, next)
          : selection.permits.use(request, target.thing, next);
      case "method":
        return selection.permits.useMethod(request, target.server, next);
      case "task":
        return follow(request, selection, next);
      case "own":
        request.resolved.target = target.otherwise;
        return resources?.read(exchange.principal, target.uri) ?? decideOne(request, next);
      case "nothing":
        throw target.problem();
      case "catalog":
      case "list":
        // Each item of it is decided by itself.
        return next(request);
    }
  };
  return decideOne;

  /** A call that names another tool is the call of that tool. */
  async function throughSearching(
    given: NamedThing,
    request: GatewayRequest,
    selection: Selection,
    next: Next,
  ): Promise<Result> {
    selection.permits.requireSeen(request, given);
    const thing = await calledTools.resolve(given, request, selection);
    return selection.permits.use(request, thing, next);
  }

  /** A hidden task is answered like an unknown id. */
  async function follow(request: GatewayRequest, selection: Selection, next: Next): Promise<Result> {
    const { exchange } = request;
    const { method, params, principal } = exchange;
    const task = calls.findTask(params["taskId"], principal);
    const isHidden = task && !(await selection.permits.mayFollow(task, principal));
    request.resolved = { selection, target: { kind: "task", server: task?.server } };
    const asked = isHidden ? { ...params, taskId: "" } : params;
    request.call = { server: "", method, params: asked, exchange };
    return next(request);
  }
}
