import { randomUUID } from "node:crypto";
import { abortSignalOf, Cancellation } from "../../async/cancellation.ts";
import type { Logger } from "../../text/logger.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { isRequestId, type Notification, type Params, type Request } from "../../protocol/json-rpc.ts";
import { type ClientCapabilities, isLoudEnough, type LogLevel, type Question } from "../../protocol/mcp.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";
import type { Caller, ClientName, Core, Exchange } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";
import { Receipt } from "../core/receipt.ts";
import { behalfIn, type Correlation, correlationOf, withoutReservedMeta } from "../core/request-meta.ts";
import { withoutQuestions } from "./legacy-capabilities.ts";
import { legacyQuestion } from "./legacy-question.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { RequestChannel } from "./request-channel.ts";

/** What a call takes from its session. */
export interface CallSurroundings {
  core: Core;
  principal: Principal;
  owner: string;
  version: LegacyRevision;
  capabilities: ClientCapabilities;
  client?: ClientName | undefined;
  /** Whether the core runs tasks of this revision itself. */
  runsTasks: boolean;
  questions: OpenQuestions;
  logger: Logger;
  hearsChanges: Caller["hearsChanges"];
  /** As it is now: a client may change it while a call runs. */
  logLevel: () => LogLevel | undefined;
}

/** One request of a legacy client on its way through the core. */
export class LegacyCall {
  readonly exchange: Exchange;
  readonly receipt: Receipt;
  readonly #around: CallSurroundings;
  readonly #channel: RequestChannel;
  readonly #cancelled = new Cancellation();
  /** Pages the user was sent to: our id of each by the server's own, or by its URL where the server has none. */
  #visits: Map<string, string> | undefined;
  isOver = false;

  constructor({ method, params = {} }: Request, channel: RequestChannel, around: CallSurroundings) {
    this.#channel = channel;
    this.#around = around;
    const { core, principal } = around;
    const { endpoint } = core;
    const signal = this.#cancelled;
    const correlation = correlationOf(params["_meta"], channel.headers);
    this.receipt = new Receipt(channel.headers);
    this.exchange = {
      endpoint,
      principal,
      method,
      params: canonicalParams(params, around.runsTasks ? FOREIGN : FOREIGN_AND_TASK),
      caller: this.#caller(params, correlation),
      correlationId: correlation.correlationId,
      traceId: correlation.traceId,
      receipt: this.receipt,
      failure: undefined,
      called: undefined,
      state: undefined,
      span: undefined,
      outgoing: undefined,
      upstreamMs: undefined,
      retries: undefined,
      signal,
    };
  }

  /** The client cancelled the request, or cannot be given it. */
  cancel(reason: NexusError): void {
    this.isOver = true;
    this.#cancelled.abort(reason);
  }

  /** The call has come to its result: pages it sent the user to are no longer waited for. */
  completeVisits(): void {
    if (!this.#visits) return;
    for (const elicitationId of this.#visits.values()) this.#channel.send(visitCompleted(elicitationId));
    this.#visits = undefined;
  }

  #caller(params: Params, { trace }: Correlation): Caller {
    const { version, owner, capabilities, client, logLevel, hearsChanges } = this.#around;
    const { canStream } = this.#channel;
    const canPause = canStream && this.#channel.pause !== undefined && atLeast(version, "2025-11-25");
    const meta = isRecord(params["_meta"]) ? params["_meta"] : undefined;
    const token = meta?.["progressToken"];
    return {
      era: "legacy",
      version,
      owner,
      capabilities: canStream ? capabilities : withoutQuestions(capabilities),
      logLevel: logLevel(),
      progressToken: isRequestId(token) ? token : undefined,
      client,
      trace,
      onBehalfOf: meta && behalfIn(meta),
      hearsChanges,
      notify: (notification) => this.#notify(notification),
      pause: canPause ? (retryMs) => this.#channel.pause?.(retryMs) : undefined,
      ask: canStream ? (question, signal) => this.#ask(question, signal) : undefined,
    };
  }

  #notify(notification: Notification): void {
    if (this.isOver) return;
    const { method, params } = notification;
    if (method === "notifications/message" && !this.#isLoud(params?.["level"])) return;
    if (method === "notifications/elicitation/complete") {
      const visit = String(params?.["elicitationId"]);
      const elicitationId = this.#visits?.get(visit);
      if (elicitationId === undefined) return;
      this.#visits?.delete(visit);
      this.#channel.send(visitCompleted(elicitationId));
      return;
    }
    this.#channel.send(notification);
  }

  /** Before a client has named a level it is told nothing. */
  #isLoud(level: unknown): boolean {
    const wanted = this.#around.logLevel();
    return wanted !== undefined && isLoudEnough(level, wanted);
  }

  async #ask(question: Question, wanted: AbortSignal): Promise<Params> {
    if (this.isOver)
      throw new NexusError("CANCELLED", `${this.exchange.method} has ended: the client can no longer be asked`);
    const { questions } = this.#around;
    const { original, ...asked } = legacyQuestion(question, this.#around);
    const send = this.#channel.send.bind(this.#channel);
    // Whoever cancels a call has no more use for its questions, however long the core takes to notice.
    const signal = AbortSignal.any([wanted, abortSignalOf(this.#cancelled)]);
    const { params } = asked;
    if (params?.["mode"] !== "url") {
      const answer = await questions.ask(asked, { send, signal });
      const { content } = answer;
      return original && isRecord(content) ? { ...answer, content: original(content) } : answer;
    }
    // Ids of different servers could meet here, so each visit gets one of ours.
    const elicitationId = randomUUID();
    const answer = await questions.ask({ ...asked, params: { ...params, elicitationId } }, { send, signal });
    this.#visits ??= new Map();
    if (answer["action"] === "accept")
      this.#visits.set(String(params["elicitationId"] ?? params["url"]), elicitationId);
    return answer;
  }
}

function visitCompleted(elicitationId: string): Notification {
  return { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } };
}

/** Members by which callers of other revisions steer a call; from a caller of these they mean nothing. */
const FOREIGN: readonly string[] = ["inputResponses", "requestState"];
const FOREIGN_AND_TASK: readonly string[] = [...FOREIGN, "task"];

/** A legacy caller's parameters in the form of the newest specification. */
function canonicalParams(params: Params, foreign: readonly string[]): Params {
  const own = withoutReservedMeta(params);
  if (!foreign.some((member) => member in own)) return own;
  const copy = { ...own };
  for (const member of foreign) delete copy[member];
  return copy;
}
