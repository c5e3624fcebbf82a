import type { CancelSignal } from "../../async/cancellation.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import { isInteractive } from "../../protocol/methods.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { hasLogLevelOfConnection } from "../../client/newest-form.ts";
import type { Host } from "../../host/host.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import type { Result, Params } from "../../protocol/json-rpc.ts";
import { ByteBudget } from "../../server/core/byte-budget.ts";
import { DEFAULT_LIMITS } from "../operation/limits.ts";
import type { Caller } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import {
  canonicalError,
  canonicalResult,
  hasTasks,
  mayBecomeTask,
  paramsFor,
  reportsTo,
  tellWaiting,
  toolCall,
  ASKS_NOTHING,
  declaring,
  type CallRunner,
  type ConnectionOwner,
  type PreparedCall,
  type UpstreamCall,
} from "./upstream-call.ts";
import { runForLegacyCaller, untilVisited } from "./ask-caller.ts";
import { ParkedCalls, type ParkedLimits, type Work } from "./parked-calls.ts";
import { bindingOf, invalidState, RequestStates, type RequestState } from "./request-state.ts";
import type { Seal } from "../../server/core/seal.ts";
import type { TaskPlace } from "../names/task-ids.ts";
import { TasksOfCallers } from "./tasks-of-callers.ts";
import {
  canBeAsked,
  capabilitiesFor,
  capabilitiesForModern,
  ConnectionLogLevels,
  knowsTasks,
  UpstreamLeases,
  NO_CAPABILITIES,
  type LeaseFor,
  type UpstreamLease,
} from "./upstream-leases.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Question } from "../../protocol/mcp.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";
import { withoutReservedMeta } from "../../server/core/request-meta.ts";
import { MISSING_CLIENT_CAPABILITY } from "../../protocol/meta.ts";

export interface CallLimits extends ParkedLimits {
  /** Calls of one owner that run at the same time: 512. */
  concurrent: number;
  /** Connections that are kept for tasks: 256. */
  tasks: number;
}

/** Above this number, owners without running calls are forgotten. */
const MANY_OWNERS = 1024;

export const DEFAULT_CALL_LIMITS: CallLimits = {
  concurrent: 512,
  parked: 256,
  parkedMs: 600_000,
  keptBytes: 32 * 1024 * 1024,
  gatherMs: 50,
  rounds: 50,
  tasks: 256,
};

interface CallsOptions {
  host: Host;
  seal: Seal;
  limits?: Partial<CallLimits> | undefined;
  /** Counts the memory that parked calls hold. */
  budget?: ByteBudget | undefined;
  logger?: Logger | undefined;
}

/**
 * Runs calls between servers and callers of either era: passes them through, asks on the caller's stream, or parks
 * them.
 */
export class Calls implements CallRunner {
  readonly #limits: CallLimits;
  readonly #leases: UpstreamLeases;
  readonly #states: RequestStates;
  readonly #parked: ParkedCalls;
  readonly #tasks: TasksOfCallers;
  readonly #logLevels: ConnectionLogLevels;
  readonly #owners = new Map<string, { running: number }>();
  #inFlight = 0;
  #closed = false;

  constructor({ host, seal, limits, budget, logger = SILENT }: CallsOptions) {
    this.#limits = { ...DEFAULT_CALL_LIMITS, ...limits };
    this.#leases = new UpstreamLeases(host, this.#limits.share);
    this.#states = new RequestStates(seal, this.#limits.parkedMs);
    this.#parked = new ParkedCalls(this.#limits, this.#states, budget ?? new ByteBudget(DEFAULT_LIMITS));
    this.#tasks = new TasksOfCallers(this.#leases, seal, this.#limits);
    this.#logLevels = new ConnectionLogLevels(logger);
  }

  /** The number of calls that wait for an answer from their caller. */
  get parked(): number {
    return this.#parked.size;
  }

  /** The number of running requests. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether something would be lost if it were closed now: a call or a task that somebody may come back to. */
  get isAwaited(): boolean {
    return this.#inFlight > 0 || this.#parked.running > 0 || this.#tasks.kept > 0;
  }

  /** The result in the form of the newest specification and the server's own names; failures are NexusErrors. */
  async run(call: UpstreamCall): Promise<Result> {
    if (this.#closed) throw new NexusError("CLOSED", "The gateway is closing", { mayHaveReached: false });
    const owner = this.#ownerOf(call);
    if (owner.running >= this.#limits.concurrent) return tooMany(owner.running, call);
    owner.running++;
    this.#inFlight++;
    try {
      return await this.#answer(call);
    } catch (error) {
      return failed(asNexusError(error), call);
    } finally {
      owner.running--;
      this.#inFlight--;
    }
  }

  takeConsent(call: UpstreamCall): boolean {
    try {
      const state = this.#stateOf(call);
      return state !== undefined && this.#states.takeConsent(state);
    } catch {
      // No consent is needed, because the call will be refused.
      return true;
    }
  }

  /** The connection that calls of this owner use. The caller of this method releases it. */
  async lease(server: string, by: ConnectionOwner, signal?: CancelSignal): Promise<UpstreamLease> {
    const { principal, caller, onWait } = by;
    const { owner } = caller;
    return this.#leases.take(server, { principal, owner, capabilities: capabilitiesFor(caller), signal, onWait });
  }

  /** The task that an id stands for; undefined if the id was not issued to this principal. */
  findTask(id: unknown, principal: Principal): TaskPlace | undefined {
    return this.#tasks.find(id, principal);
  }

  /** Ends what is kept for a caller whose session has ended. */
  release(owner: string): void {
    this.#owners.delete(owner);
    this.#parked.release(owner);
    this.#tasks.release(owner);
    this.#leases.release(owner);
  }

  /** Calls that are not over at their servers, and whose callers may be away. */
  get unfinished(): number {
    return this.#parked.running;
  }

  /** Resolves when those that are not over now have ended. */
  settled(): Promise<void> {
    return this.#parked.settled();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#tasks.close();
    await this.#parked.close();
  }

  #ownerOf({ exchange: { caller } }: UpstreamCall): { running: number } {
    const known = this.#owners.get(caller.owner);
    if (known) return known;
    if (this.#owners.size >= MANY_OWNERS) this.#forgetIdleOwners();
    const owner = { running: 0 };
    this.#owners.set(caller.owner, owner);
    return owner;
  }

  /** Modern callers do not say when they leave. */
  #forgetIdleOwners(): void {
    for (const [owner, { running }] of this.#owners) if (running === 0) this.#owners.delete(owner);
  }

  async #answer(call: UpstreamCall): Promise<Result> {
    const { server, method, params, exchange } = call;
    const { caller, principal, signal } = exchange;
    if (method.startsWith("tasks/")) return this.#tasks.run(method, params, exchange);
    const state = params["requestState"] === undefined ? undefined : this.#stateOf(call);
    if (state?.kind === "parked") return this.#parked.resume(state, params["inputResponses"], exchange);
    const common = capabilitiesFor(caller);
    const wanted = { principal, owner: caller.owner, capabilities: common, signal };
    const lease = this.#leases.find(server, wanted) ?? (await this.#wait(server, wanted, caller));
    const sentAt = performance.now();
    const span = exchange.span?.child(server, method, params["name"]);
    if (span) exchange.outgoing = span.trace;
    let failure: string | undefined;
    try {
      const isLegacy = lease.client.era === "legacy";
      const capabilities = isLegacy ? common : capabilitiesForModern(caller, common);
      const { isConsented } = call;
      const prepared = { server, method, params: paramsFor(call, lease), exchange, lease, capabilities, isConsented };
      if (caller.logLevel && hasLogLevelOfConnection(lease.client)) {
        await this.#logLevels.ensure(lease.client, caller.logLevel);
      }
      if (caller.era === "legacy") return await runForLegacyCaller(prepared, this.#limits.parkedMs);
      if (isLegacy) return await this.#callLegacy(prepared, state);
      const result = await passThrough(prepared, { state, states: this.#states, maxRounds: this.#limits.rounds });
      return result.resultType === "task" ? this.#tasks.adopt(result, prepared) : result;
    } catch (error) {
      lease.report(error);
      failure = asNexusError(error).code;
      throw error;
    } finally {
      span?.end(failure);
      exchange.upstreamMs = (exchange.upstreamMs ?? 0) + performance.now() - sentAt;
      lease.release();
    }
  }

  /** Its caller is told if no process or connection is free. */
  #wait(server: string, wanted: LeaseFor, caller: Caller): Promise<UpstreamLease> {
    return this.#leases.take(server, { ...wanted, onWait: (reason) => tellWaiting(caller, reason) });
  }

  /** The state that a caller sends back with the answers to questions. */
  #stateOf({ server, method, params, exchange }: UpstreamCall): RequestState | undefined {
    const { requestState } = params;
    if (requestState === undefined || exchange.caller.era === "legacy" || !isInteractive(method)) return undefined;
    return this.#states.open(requestState, bindingOf(exchange, { server, method, params }));
  }

  async #callLegacy(call: PreparedCall, state: RequestState | undefined): Promise<Result> {
    const { method, params, capabilities, exchange, lease } = call;
    const { client } = lease;
    // These answers belong to no question of this gateway. Repeating the call could run it a second time.
    if (state || (isInteractive(method) && params["inputResponses"] !== undefined)) throw invalidState();
    if (hasTasks(call) && (await mayBecomeTask(call))) {
      if (!knowsTasks(capabilities))
        return this.#park(call, async (options) =>
          canonicalResult(client, method, await client.tasks.runCall(toolCall(call), options)),
        );
      return this.#park(call, async (options) => {
        const started = await client.tasks.startCall(toolCall(call), options);
        return this.#tasks.adoptLegacy(started, call);
      });
    }
    if (isInteractive(method) && canBeAsked(capabilities)) return this.#park(call, untilVisited(call));
    const options = reportsTo(exchange);
    options.signal = exchange.signal;
    return canonicalResult(client, method, await client.request(method, params, options));
  }

  /** The work keeps its connection until it ends, even if its caller does not come back. */
  #park({ capabilities, exchange, lease, ...call }: PreparedCall, work: Work): Promise<Result> {
    const done = lease.keep();
    const whole: Work = async (options) => {
      try {
        return await work(options);
      } catch (error) {
        lease.report(error);
        throw error;
      } finally {
        done();
      }
    };
    const binding = () => bindingOf(exchange, call);
    return this.#parked.begin(whole, { exchange, capabilities, binding });
  }
}

/**
 * Returns failures of a tool call as a tool result if the model can use it; throws the rest as errors that the caller
 * knows.
 */
function failed(error: NexusError, { method, exchange: { caller, signal } }: UpstreamCall): Result {
  if (method === "tools/call" && !signal.aborted) {
    const isUndeclared = caller.era === "legacy" && error.code === "CAPABILITY_MISSING" && !error.details.rpc;
    if (error.code === "INPUT_FAILED" || isUndeclared) return toolFailure(error.message);
    const missing = caller.era === "legacy" ? missingCapabilities(error) : undefined;
    if (missing) return toolFailure(`${error.message} (This client does not declare ${capabilityNames(missing)}.)`);
  }
  throw canonicalError(signal.aborted ? calledOff(error, signal.reason) : error, caller);
}

/** The reason of the cancellation says more than the error, for example that the gateway is closing. */
function calledOff(error: NexusError, reason: unknown): NexusError {
  if (error.code !== "CANCELLED" || !(reason instanceof NexusError)) return error;
  return new NexusError("CANCELLED", reason.message, { ...error.details, cause: error });
}

function tooMany(running: number, { server, method }: UpstreamCall): Result {
  const message = `Call limit of this client reached (${running}). Wait until some calls have finished.`;
  if (method === "tools/call") return toolFailure(message);
  throw new NexusError("CLOSED", message, { server, method, mayHaveReached: false });
}

interface PassOptions {
  /** The state that the caller sent back from the round before. */
  state: RequestState | undefined;
  states: RequestStates;
  maxRounds: number;
}

/**
 * Sends a modern caller's request to a modern server; its questions go to the caller. The gateway keeps nothing: the
 * server's state travels with the caller, sealed.
 */
async function passThrough(call: PreparedCall, { state, states, maxRounds }: PassOptions): Promise<Result> {
  const { server, method, exchange, capabilities, lease } = call;
  const { signal } = exchange;
  const { client } = lease;
  const options = reportsTo(exchange);
  options.signal = signal;
  options.input = capabilities === NO_CAPABILITIES ? ASKS_NOTHING : declaring(capabilities);
  const roots = capabilities.roots ? undefined : client.roots;
  let params = state ? withState(call.params, state, roots) : call.params;
  for (let round = 0; round < maxRounds; round++) {
    const result = canonicalResult(client, method, await client.request(method, params, options));
    if (result.resultType !== "input_required") return result;
    const { inputRequests, requestState, ...rest } = result;
    const questions = new Map(isRecord(inputRequests) ? (Object.entries(inputRequests) as [string, Question][]) : []);
    const own = [...questions.keys()].filter((key) => roots && questions.get(key)?.method === "roots/list");
    for (const key of own) questions.delete(key);
    refuseUndeclared(questions, call);
    const passed: RequestState = { kind: "passed" };
    if (requestState !== undefined) passed.state = requestState;
    if (own.length > 0) passed.roots = own;
    if (call.isConsented && questions.size > 0) passed.consent = states.keepConsent();
    if (own.length > 0 && questions.size === 0) {
      params = withState(call.params, passed, roots);
      continue;
    }
    const asked = inputRequests === undefined ? rest : { ...rest, inputRequests: asOurs(questions) };
    if (passed.state === undefined && !passed.roots && passed.consent === undefined) return asked;
    const binding = bindingOf(exchange, { server, method, params: call.params });
    return { ...asked, requestState: states.seal(passed, binding) };
  }
  throw new NexusError("INPUT_FAILED", `The server asked ${maxRounds} times without finishing ${method}`);
}

/** The caller's answers, the gateway's own answers and the server's state exactly as it was received. */
function withState(params: Params, state: RequestState, roots: readonly unknown[] | undefined): Params {
  if (state.kind !== "passed") throw invalidState();
  const full: Params = { ...params };
  if (state.state !== undefined) full["requestState"] = state.state;
  if (state.roots) {
    const given = isRecord(params["inputResponses"]) ? params["inputResponses"] : {};
    const own = state.roots.map((key) => [key, { roots: roots ?? [] }] as const);
    full["inputResponses"] = { ...given, ...Object.fromEntries(own) };
  }
  return full;
}

/** Removes the server's reserved `_meta`, which is only for the gateway. */
function asOurs(questions: ReadonlyMap<string, Question>): Record<string, Question> {
  const own = [...questions].map(([key, question]) => {
    const { params } = question;
    return [key, params ? { ...question, params: withoutReservedMeta(params) } : question] as const;
  });
  return Object.fromEntries(own);
}

/** A caller MUST NOT be asked for anything that it did not declare, also not by a gateway. */
function refuseUndeclared(
  questions: ReadonlyMap<string, Question>,
  { server, capabilities, lease }: PreparedCall,
): void {
  if (questions.size === 0) return;
  for (const question of questions.values()) {
    if (isRecord(question) && isDeclared(question, capabilities)) continue;
    throw new NexusError(
      "PROTOCOL_VIOLATION",
      `Server "${lease.client.server}" sent a question that this client does not support`,
      {
        server,
        raw: question,
        mayHaveReached: true,
      },
    );
  }
}

/** A failure as a tool result, so that a model can read it. */
function toolFailure(text: string): Result {
  return { resultType: "complete", content: [{ type: "text", text }], isError: true };
}

/** The capabilities that a modern server says it requires. */
function missingCapabilities(error: unknown): Record<string, unknown> | undefined {
  const rpc = error instanceof NexusError ? error.details.rpc : undefined;
  if (rpc?.code !== MISSING_CLIENT_CAPABILITY || !isRecord(rpc.data)) return undefined;
  const { requiredCapabilities } = rpc.data;
  return isRecord(requiredCapabilities) ? requiredCapabilities : undefined;
}
