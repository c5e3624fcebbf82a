import { randomUUID } from "node:crypto";
import type { Client } from "../../client/client.ts";
import type { InputContext, InputProvider } from "../../client/conversation/input.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Notification, Params, Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, InputRequest, InputResult, Question } from "../../protocol/mcp.ts";
import { URL_ELICITATION_REQUIRED } from "../../protocol/meta.ts";
import { atLeast } from "../../protocol/revisions.ts";
import type { GatewayExchange } from "../names/view.ts";
import { withoutReservedMeta } from "../../server/core/request-meta.ts";
import {
  canonicalResult,
  declaring,
  hasTasks,
  mayBecomeTask,
  type PreparedCall,
  reportsTo,
  toolCall,
} from "./upstream-call.ts";
import type { CallOptions } from "../../client/conversation/call-scope.ts";
import { isInteractive } from "../../protocol/methods.ts";
import { canBeAsked } from "./upstream-leases.ts";
import { abortSignalOf } from "../../async/cancellation.ts";
import { urlQuestions } from "../../client/conversation/rounds.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Work } from "./parked-calls.ts";

/** Asks a legacy caller a server's questions on the stream of its call. */
class AskingCaller implements InputProvider {
  readonly capabilities: ClientCapabilities;
  readonly #exchange: GatewayExchange;
  readonly #answerMs: number;
  /** Only 2025-11-25 gives URL questions an id, and notifies the client when they are complete. */
  readonly #knowsVisits: boolean;
  readonly #client: Client;
  #stopHearing: (() => void) | undefined;
  /** URL questions that the caller has to visit without being asked. */
  readonly #pages: Params[] = [];
  /** Ids of the URL questions that the caller was asked: the server's, or ours if it sent none. */
  readonly #visits = { theirs: new Set<unknown>(), ours: new Set<string>() };

  constructor({ exchange, capabilities, lease }: PreparedCall, answerMs: number) {
    this.#exchange = exchange;
    this.capabilities = capabilities;
    this.#client = lease.client;
    this.#answerMs = answerMs;
    const { version } = exchange.caller;
    this.#knowsVisits = atLeast(version, "2025-11-25") && capabilities.elicitation?.url !== undefined;
  }

  async handle(request: InputRequest, { signal }: InputContext): Promise<InputResult> {
    const { caller, signal: leaving } = this.#exchange;
    const question = this.#forCaller(request);
    if (!caller.ask && question.params?.["mode"] === "url") throw await this.#sentTo(question.params);
    try {
      if (!caller.ask) throw new Error("it has no stream for questions");
      const answer = await caller.ask(question, AbortSignal.any([signal, AbortSignal.timeout(this.#answerMs)]));
      return answer as unknown as InputResult;
    } catch (error) {
      if (signal.aborted || leaving.aborted || isUnaskable(error)) throw error;
      // A caller cannot answer with an error. A form can be answered with "cancel"; any other question ends the
      // call.
      if (question.method === "elicitation/create") return { action: "cancel" };
      throw new NexusError("INPUT_FAILED", `The client did not answer ${question.method}: ${messageOf(error)}`, {
        cause: error,
        mayHaveReached: true,
      });
    }
  }

  /** Call this when the call has ended: nothing more is asked. */
  close(): void {
    this.#stopHearing?.();
  }

  /** Handles a legacy server's notification that a URL question is complete. */
  #heard({ method, params }: Notification): void {
    if (method !== COMPLETE || !this.#visits.theirs.delete(params?.["elicitationId"])) return;
    this.#exchange.caller.notify({ jsonrpc: "2.0", method: COMPLETE, params: params ?? {} });
  }

  /** Call this when the call continues: URL questions with an id of ours are complete. */
  completed(): void {
    for (const elicitationId of this.#visits.ours) {
      this.#exchange.caller.notify({ jsonrpc: "2.0", method: COMPLETE, params: { elicitationId } });
    }
    this.#visits.ours.clear();
  }

  /** 2025-11-25: a caller that cannot be asked gets an error with all URLs to visit, and then calls again. */
  async #sentTo(page: Params): Promise<NexusError> {
    this.#pages.push(page);
    await Promise.resolve();
    const message = "The user must open a page first";
    const rpc = { code: URL_ELICITATION_REQUIRED, message, data: { elicitations: this.#pages } };
    return new NexusError("SERVER_ERROR", message, { rpc, mayHaveReached: true });
  }

  #forCaller({ method, params }: Question): Question {
    if (!params) return { method };
    const carried = withoutReservedMeta(params);
    if (carried["mode"] !== "url" || !this.#knowsVisits) return { method, params: carried };
    if (carried["elicitationId"] !== undefined) {
      this.#visits.theirs.add(carried["elicitationId"]);
      if (this.#client.era === "legacy") {
        this.#stopHearing ??= this.#client.onNotification((said) => this.#heard(said));
      }
      return { method, params: carried };
    }
    const elicitationId = randomUUID();
    this.#visits.ours.add(elicitationId);
    return { method, params: { ...carried, elicitationId } };
  }
}

/**
 * Whether the caller could not be asked at all. Then the call fails with that reason, instead of looking like a
 * cancelled form.
 */
function isUnaskable(error: unknown): boolean {
  return error instanceof NexusError && error.code === "CAPABILITY_MISSING";
}

const COMPLETE = "notifications/elicitation/complete";

/** A legacy caller waits for its answer: it is asked on its stream, and tasks are followed by the gateway. */
export async function runForLegacyCaller(call: PreparedCall, answerMs: number): Promise<Result> {
  const { method, exchange, capabilities } = call;
  const options = reportsTo(exchange);
  options.signal = exchange.signal;
  options.input = declaring(capabilities);
  if (!isInteractive(method) || !canBeAsked(capabilities)) return await answer(call, options);
  const asking = new AskingCaller(call, answerMs);
  try {
    const result = await answer(call, { ...options, input: asking });
    asking.completed();
    return result;
  } finally {
    asking.close();
  }
}

async function answer(call: PreparedCall, options: CallOptions): Promise<Result> {
  const { method, params, lease } = call;
  const { client } = lease;
  if (hasTasks(call) && (await mayBecomeTask(call))) {
    return canonicalResult(client, method, await client.tasks.runCall(toolCall(call), options));
  }
  // A legacy server's error with URLs is passed on unchanged: callers of its revision know it.
  const hasRounds = client.era === "modern" && isInteractive(method);
  return canonicalResult(
    client,
    method,
    await (hasRounds ? client.call(method, params, options) : client.request(method, params, options)),
  );
}

/**
 * Sends a request to a legacy server. A server of 2025-11-25 can refuse it until the user has visited a page. It has
 * not run then: the caller is asked to visit the page, and the request is sent again.
 */
export function untilVisited({ server, method, params, capabilities, lease: { client } }: PreparedCall): Work {
  return async (options) => {
    for (;;) {
      try {
        return canonicalResult(client, method, await client.request(method, params, options));
      } catch (error) {
        const visits = error instanceof NexusError ? urlQuestions(error) : undefined;
        if (!visits || !capabilities.elicitation?.url || options.signal.aborted) throw error;
        const signal = abortSignalOf(options.signal);
        const answers = Object.entries(visits).map(async ([key, visit]) =>
          options.input.handle(visit as InputRequest, { server, key, signal }),
        );
        if ((await Promise.all(answers)).every((answer) => isRecord(answer) && answer["action"] === "accept")) continue;
        throw new NexusError("INPUT_FAILED", `The user must open a page first: ${(error as NexusError).message}`, {
          cause: error,
          mayHaveReached: true,
        });
      }
    }
  };
}
