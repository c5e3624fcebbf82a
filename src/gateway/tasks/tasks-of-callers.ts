import type { Started } from "../../client/tasks.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { METHOD_NOT_FOUND, type Params, type Result } from "../../protocol/json-rpc.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import { isForwarded } from "../../protocol/methods.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { PreparedCall } from "../upstream/prepared-call.ts";
import type { Seal } from "../../server/core/seal.ts";
import { TaskConnections, type TaskConnection, type TaskLimits } from "./task-connections.ts";
import { belongsTo, TaskIds, taskIdIn, unknownTask, withTaskId, type TaskPlace } from "../names/task-ids.ts";
import { canonicalResult, capabilityMissing } from "../upstream/upstream-answer.ts";
import { capabilitiesFor, knowsTasks } from "../upstream/upstream-capabilities.ts";
import type { UpstreamLeases } from "../upstream/upstream-leases.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";
import { declaring, traceFor } from "../upstream/upstream-reports.ts";

const OVER: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

/** Tasks that modern callers follow themselves, under ids of the gateway. */
export class TasksOfCallers {
  readonly #ids: TaskIds;
  readonly #connections: TaskConnections;

  constructor(leases: UpstreamLeases, seal: Seal, limits: TaskLimits) {
    this.#ids = new TaskIds(seal);
    this.#connections = new TaskConnections(leases, limits);
  }

  /** Connections that are kept for tasks. */
  get kept(): number {
    return this.#connections.size;
  }

  find(id: unknown, principal: Principal): TaskPlace | undefined {
    return this.#ids.find(id, principal);
  }

  /** Replaces the id in a modern server's result that is a task. */
  adopt(result: Result, call: PreparedCall): Result {
    const { server, params, exchange } = call;
    const taskId = taskIdIn(result);
    if (taskId === undefined) {
      throw new NexusError("PROTOCOL_VIOLATION", "The server's answer has the type of a task but contains no task", {
        raw: result,
        mayHaveReached: true,
      });
    }
    const { endpoint: view } = exchange;
    const set = view.kind === "set" ? view.name : undefined;
    const place = { server, taskId, tool: String(params["name"]), set };
    this.#connections.keep(place, call);
    return withTaskId(withoutReservedMeta(result), this.#ids.seal(place, exchange.principal));
  }

  /** The result of a tool of 2025-11-25 that was called as a task. */
  adoptLegacy(started: Started, call: PreparedCall): Result {
    if (started.kind === "result") return canonicalResult(call.lease.client, "tools/call", started.result);
    return this.adopt({ ...started.task, resultType: "task" }, call);
  }

  /** `tasks/get`, `tasks/update` and `tasks/cancel`. */
  async run(method: string, params: Params, exchange: GatewayExchange): Promise<Result> {
    if (exchange.caller.era === "legacy" || !isForwarded(method)) throw unknownMethod(method);
    if (!knowsTasks(exchange.caller.capabilities)) {
      throw capabilityMissing(
        { extensions: { [TASKS_EXTENSION]: {} } },
        `${method} requires the extension ${TASKS_EXTENSION}`,
      );
    }
    const { endpoint: view, principal } = exchange;
    const place = this.find(params["taskId"], principal);
    if (!place || !belongsTo(view, place)) throw unknownTask();
    const answer = await this.#connections.with(place, exchange, (connection) => {
      const asked = { ...params, taskId: place.taskId };
      return connection.legacy
        ? askLegacy(connection, method, asked, exchange)
        : ask(connection, method, asked, exchange);
    });
    if (OVER.has(answer["status"])) this.#connections.drop(place, exchange);
    return withTaskId(answer, String(params["taskId"]));
  }

  release(owner: string): void {
    this.#connections.release(owner);
  }

  close(): void {
    this.#connections.close();
  }
}

async function ask(
  { client }: TaskConnection,
  method: string,
  params: Params,
  exchange: GatewayExchange,
): Promise<Result> {
  const { caller, signal } = exchange;
  const { correlationId } = exchange;
  const options = { signal, correlationId, trace: traceFor(exchange), input: declaring(capabilitiesFor(caller)) };
  const answer = canonicalResult(client, method, await client.request(method, withoutReservedMeta(params), options));
  const { result } = answer;
  return isRecord(result) ? { ...answer, result: withoutReservedMeta(result) } : answer;
}

async function askLegacy(
  { legacy }: TaskConnection,
  method: string,
  { inputResponses }: Params,
  { signal }: GatewayExchange,
): Promise<Result> {
  if (!legacy) throw unknownMethod(method);
  if (method === "tasks/update") return legacy.update(inputResponses);
  return method === "tasks/get" ? legacy.get(signal) : legacy.cancel(signal);
}

function unknownMethod(method: string): NexusError {
  const message = `Method not found: ${method}`;
  return new NexusError("CAPABILITY_MISSING", message, {
    rpc: { code: METHOD_NOT_FOUND, message },
    mayHaveReached: false,
  });
}
