import { NO_CAPABILITIES } from "./upstream-leases.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { Question } from "../../protocol/mcp.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";
import { withoutReservedMeta } from "../../server/core/request-meta.ts";
import { ASKS_NOTHING, canonicalResult, declaring, type PreparedCall, reportsTo } from "./upstream-call.ts";
import { bindingOf, invalidState, type RequestState, type RequestStates } from "./request-state.ts";

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
export async function passThrough(call: PreparedCall, { state, states, maxRounds }: PassOptions): Promise<Result> {
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
