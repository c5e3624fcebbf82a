import type { Started, Task } from "../../client/tasks.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { METHOD_NOT_FOUND, type Params, type Result } from "../../protocol/json-rpc.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import { isForwarded } from "../../protocol/methods.ts";
import { closedKey, type GatewayExchange } from "../names/view.ts";
import { ownerKey, type Principal, principalKey } from "../../server/core/principal.ts";
import { canonicalResult, capabilityMissing, declaring, type PreparedCall, traceFor } from "./upstream-call.ts";
import type { Seal } from "../../server/core/seal.ts";
import { belongsTo, taskIdIn, TaskIds, type TaskPlace, unknownTask, withTaskId } from "../names/task-ids.ts";
import { capabilitiesFor, knowsTasks, type UpstreamLease, type UpstreamLeases } from "./upstream-leases.ts";
import { withoutReservedMeta } from "../../server/core/request-meta.ts";
import type { Client } from "../../client/client.ts";
import { FairShares, type Share } from "../../async/fair-shares.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { ParkedQuestions } from "./parked-questions.ts";

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
    const place = { server, taskId, tool: String(params["name"]), within: closedKey(view) };
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

interface TaskLimits {
  /** Connections that are kept for tasks: 256. */
  tasks: number;
  /** How long they are kept after the last request about the task: ten minutes. */
  parkedMs: number;
  gatherMs: number;
  /** The part of the connections that one principal may use while others compete, from 0 to 1. */
  share?: number | undefined;
}

/** The connection for requests about a task. */
interface TaskConnection {
  client: Client;
  /** Only for a server of 2025-11-25. */
  legacy: LegacyTask | undefined;
}

interface Kept extends TaskConnection {
  owner: string;
  share: Share;
  release: () => void;
}

/** Keeps the connections of tasks: a process ends when nobody uses it, and its tasks end with it. */
class TaskConnections {
  readonly #leases: UpstreamLeases;
  readonly #limits: TaskLimits;
  readonly #kept: ExpiringMap<Kept>;
  readonly #shares: FairShares;

  constructor(leases: UpstreamLeases, limits: TaskLimits) {
    this.#leases = leases;
    this.#limits = limits;
    this.#kept = new ExpiringMap<Kept>(limits.parkedMs, (kept) => this.#letGo(kept));
    this.#shares = new FairShares(limits.tasks, limits);
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Runs `ask` on the connection on which the task was created, if it is kept, or on another one of the same owner. */
  async with<T>(
    place: TaskPlace,
    exchange: GatewayExchange,
    ask: (connection: TaskConnection) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(place, exchange);
    const kept = this.#kept.get(key);
    if (kept && !kept.client.lost) {
      this.#kept.set(key, kept);
      return ask(kept);
    }
    this.drop(place, exchange);
    const { principal, caller, signal } = exchange;
    const wanted = { principal, owner: caller.owner, capabilities: capabilitiesFor(caller), signal };
    const lease = await this.#leases.take(place.server, wanted);
    try {
      return await ask(this.keep(place, { exchange, lease }));
    } finally {
      lease.release();
    }
  }

  /** Not needed for modern servers over HTTP: they keep tasks without a connection. */
  keep(place: TaskPlace, { exchange, lease }: { exchange: GatewayExchange; lease: UpstreamLease }): TaskConnection {
    const { client } = lease;
    if (client.era === "modern" && client.pid === undefined) return { client, legacy: undefined };
    // The same task can be kept twice: the server may reuse an id, or two requests may come after a lost connection.
    this.drop(place, exchange);
    const { caller, principal } = exchange;
    const legacy = this.#legacyTask(place, client, exchange);
    const share = this.#shares.of(principalKey(principal));
    const hasRoom = this.#shares.makeRoom(share, (loser) =>
      this.#letGo(this.#kept.takeOldest((one) => one.share === loser)),
    );
    if (!hasRoom) return { client, legacy };
    this.#shares.take(share);
    const kept = { client, legacy, owner: caller.owner, share, release: lease.keep() };
    this.#kept.set(keyOf(place, exchange), kept);
    return kept;
  }

  /** Call this when the task has ended. */
  drop(place: TaskPlace, exchange: GatewayExchange): void {
    this.#letGo(this.#kept.take(keyOf(place, exchange)));
  }

  release(owner: string): void {
    for (const kept of this.#kept.takeAll((one) => one.owner === owner)) this.#letGo(kept);
  }

  close(): void {
    for (const kept of this.#kept.takeAll()) this.#letGo(kept);
  }

  /** False if there was none. */
  #letGo(kept: Kept | undefined): boolean {
    if (!kept) return false;
    kept.legacy?.close();
    kept.release();
    this.#shares.give(kept.share);
    return true;
  }

  #legacyTask({ taskId }: TaskPlace, client: Client, { caller }: GatewayExchange): LegacyTask | undefined {
    if (client.era === "modern") return undefined;
    const { gatherMs } = this.#limits;
    return new LegacyTask({ client, taskId, capabilities: capabilitiesFor(caller), gatherMs });
  }
}

function keyOf({ server, taskId }: TaskPlace, { principal }: GatewayExchange): string {
  return ownerKey(principal, JSON.stringify([server, taskId]));
}

/** How long to wait for the question of a task that is in the state `input_required`. */
const QUESTION_MS = 1_000;

interface LegacyTaskOptions {
  client: Client;
  taskId: string;
  capabilities: ClientCapabilities;
  gatherMs: number;
}

/** A task of 2025-11-25, presented as a task of the 2026 extension. */
export class LegacyTask {
  readonly #client: Client;
  readonly #taskId: string;
  readonly #options: LegacyTaskOptions;
  readonly #questions = new ParkedQuestions(() => this.#onAsked());
  readonly #ending = new AbortController();
  /** `tasks/result`, which answers when the task has ended and asks questions until then. */
  #result: Promise<Outcome> | undefined;
  #onAsked: () => void = () => {};

  constructor(options: LegacyTaskOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#taskId = options.taskId;
  }

  async get(signal: CancelSignal): Promise<Result> {
    const task = await this.#client.tasks.get(this.#taskId, { signal });
    const {
      result: _result,
      error: _error,
      inputRequests: _requests,
      ...outline
    } = withoutReservedMeta<Task & { _meta?: unknown }>(task);
    switch (task.status) {
      case "working":
      case "cancelled":
        return complete(outline);
      case "input_required":
        return complete(await this.#withQuestions(outline, signal));
      case "completed":
      case "failed":
        // A tool error is a failed task in 2025-11-25 and a completed task in the extension.
        return complete({ ...outline, ...(await unlessAborted(this.#outcome(), signal)) });
    }
  }

  update(responses: unknown): Result {
    this.#questions.answer(responses);
    return complete({});
  }

  async cancel(signal: CancelSignal): Promise<Result> {
    try {
      await this.#client.tasks.cancel(this.#taskId, { signal });
    } catch (error) {
      if (asNexusError(error).code !== "SERVER_ERROR") throw error;
      // A finished task cannot be cancelled at the server, which is no error here; an unknown task is an error.
      await this.#client.tasks.get(this.#taskId, { signal }).catch(() => {
        throw unknownTask();
      });
    }
    return complete({});
  }

  /** Stops asking about the task; the task itself continues. */
  close(): void {
    this.#questions.refuse();
    const error = new NexusError("CANCELLED", "The client no longer polls the task");
    // The refusals must be sent before the cancellation.
    queueMicrotask(() => process.nextTick(() => this.#ending.abort(error)));
  }

  #outcome(): Promise<Outcome> {
    if (this.#result) return this.#result;
    const result = this.#waitForResult();
    this.#result = result;
    // A broken connection says nothing about the task: the next request asks again.
    result.catch(() => (this.#result = undefined));
    return result;
  }

  async #waitForResult(): Promise<Outcome> {
    const { capabilities } = this.#options;
    try {
      const result = await this.#client.request(
        "tasks/result",
        { taskId: this.#taskId },
        {
          signal: this.#ending.signal,
          timeoutMs: Infinity,
          totalTimeoutMs: Infinity,
          input: { capabilities, handle: (question, { signal }) => this.#questions.ask(question, signal) },
        },
      );
      return { status: "completed", result: withoutReservedMeta(result) };
    } catch (thrown) {
      const { rpc } = asNexusError(thrown).details;
      if (!rpc) throw thrown;
      return { status: "failed", error: rpc };
    }
  }

  /**
   * A task that needs input is useless to the caller without its questions; until they are known, it is reported as
   * working.
   */
  async #withQuestions(outline: Task, signal: CancelSignal): Promise<Task> {
    const outcome = this.#outcome();
    if (this.#questions.size === 0) {
      let timer: NodeJS.Timeout | undefined;
      const asked = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, QUESTION_MS);
        this.#onAsked = () => {
          clearTimeout(timer);
          timer = setTimeout(resolve, this.#options.gatherMs);
        };
      });
      try {
        await unlessAborted(Promise.race([asked, outcome]), signal);
      } finally {
        clearTimeout(timer);
        this.#onAsked = () => {};
      }
    }
    if (this.#questions.size === 0) return { ...outline, status: "working" };
    return { ...outline, inputRequests: this.#questions.requests() };
  }
}

type Outcome =
  | { status: "completed"; result: Result }
  | { status: "failed"; error: { code: number; message: string; data?: unknown } };

function complete(members: Record<string, unknown>): Result {
  return { resultType: "complete", ...members };
}
