import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Implementation, LogLevel } from "../../protocol/mcp.ts";
import { CORRELATION_META, HEADER_MISMATCH, TASKS_EXTENSION } from "../../protocol/meta.ts";
import { modernHeaders, modernMeta } from "../../protocol/modern.ts";
import type { CallOptions, CallScope } from "./call-scope.ts";
import { isSessionForgotten } from "./forgotten-session.ts";
import type { Agreement } from "./handshake.ts";
import type { InputProvider } from "./input.ts";
import type { Peer } from "./peer.ts";
import { isInteractive } from "../../protocol/methods.ts";
import { retryDelayMs, type RetrySettings } from "./retry.ts";
import type { SharedClient } from "./shared-client.ts";
import { UNKNOWN_TOOL, type ToolFacts } from "./tool-facts.ts";

interface ConversationOptions {
  clientInfo: Implementation;
  capabilities: (provider?: InputProvider, sharedClient?: SharedClient) => ClientCapabilities;
  retry: RetrySettings;
  /** Opens a new session after the server has forgotten the old one. */
  renew: () => Promise<Agreement>;
  /** Called when the new session is in use. */
  onRenewed: () => void;
  /** Reads the tool list again, because the server rejected our headers. */
  reloadTools: (scope: CallScope) => Promise<unknown>;
}

/**
 * Sends requests in the form of the agreed era: adds what the era requires, and decides when a request may be repeated.
 */
export class Conversation {
  readonly peer: Peer;
  agreement: Agreement;
  /** Sent to modern servers with every request. */
  logLevel: LogLevel | undefined;
  /** Facts about tools from the last list; tools with nothing special are left out. */
  tools = new Map<string, ToolFacts>();
  readonly #options: ConversationOptions;
  /** That of the last request: the next one mostly declares the same. */
  #lastMeta: DeclaredMeta | undefined;
  #renewing: Promise<void> | undefined;

  constructor(peer: Peer, agreement: Agreement, options: ConversationOptions) {
    this.peer = peer;
    this.agreement = agreement;
    this.#options = options;
  }

  /** One exchange, repeated where that is safe. The result is unchanged. */
  async exchange(method: string, params: Params | undefined, scope: CallScope): Promise<Result> {
    const { questions } = scope;
    let history: History | undefined;
    for (;;) {
      let session: Agreement | undefined;
      try {
        if (this.#renewing) await scope.until(this.#renewing);
        session = this.agreement;
        const result = await this.send(method, params, scope);
        if (session.era === "modern") this.#checkKind(method, result, scope);
        return result;
      } catch (error) {
        // Made here, because most requests do not fail.
        history ??= { tries: 1, renewed: false, reloaded: false, reached: false, questions };
        await this.#prepareAgain(error, { method, params, scope, session, history });
      }
    }
  }

  /** Resolves when a request that failed may be sent again; rejects with why it may not. */
  async #prepareAgain(thrown: unknown, attempt: FailedAttempt): Promise<void> {
    const { scope, history, session } = attempt;
    try {
      // A renewal that others began may have failed.
      if (!(thrown instanceof NexusError) || !session) throw thrown;
      if (mayHaveRun(thrown, session)) history.reached = true;
      if (scope.stopped || !(await this.#recover(thrown, session, attempt))) throw thrown;
      const { observed } = scope.options;
      if (observed) observed.retries = (observed.retries ?? 0) + 1;
    } catch (error) {
      if (!(error instanceof NexusError)) throw error;
      // An earlier attempt may have reached the server, even if the last one did not.
      throw this.peer.describe(error).amended({ mayHaveReached: history.reached });
    }
  }

  /** One exchange, sent once. */
  send(method: string, params: Params | undefined, scope: CallScope, id = this.peer.reserveId()): Promise<Result> {
    const { peer, agreement } = this;
    const modern = agreement.era === "modern";
    const { trace, correlationId, meta: extra } = scope.options;
    // Requests about tasks have no progress of their own: it comes with the token of the call that created the task.
    const onProgress = method.startsWith("tasks/") ? undefined : scope.options.onProgress;
    if (onProgress) scope.progressToken = id;
    let meta = modern ? this.#modernMeta(scope) : undefined;
    if (onProgress || trace || extra || correlationId !== undefined) {
      meta = Object.assign({}, extra, trace, meta);
      if (onProgress) meta["progressToken"] = id;
      if (correlationId !== undefined) meta[CORRELATION_META] = correlationId;
    }
    const full = meta ? withMeta(params, meta) : params;
    let headers: Record<string, string> | undefined;
    if (peer.kind === "http") {
      headers = modern
        ? modernHeaders(agreement.version, method, full, this.#factsFor(method, params).paramHeaders)
        : peer.standingHeaders;
      if (trace || correlationId !== undefined) headers = withCorrelation(headers, scope.options);
    }
    const cancelBy = modern && peer.kind === "http" ? "stream" : "notification";
    return peer.exchange({ id, method, params: full, headers, cancelBy, resumable: !modern }, scope);
  }

  /** Call this when the declared capabilities have changed. */
  capabilitiesChanged(): void {
    this.#lastMeta = undefined;
  }

  #modernMeta(scope: CallScope): Record<string, unknown> {
    const { options, extensions, sharedClient } = scope;
    const { input } = options;
    const logLevel = options.logLevel ?? sharedClient?.logLevel ?? this.logLevel;
    const last = this.#lastMeta;
    const isSame = last?.input === input && last?.logLevel === logLevel && !sharedClient && !extensions;
    if (last && isSame) return last.meta;
    const meta = modernMeta({
      version: this.agreement.version,
      clientInfo: this.#options.clientInfo,
      capabilities: this.#capabilities(scope),
      logLevel,
    });
    if (!sharedClient && !extensions) this.#lastMeta = { input, logLevel, meta };
    return meta;
  }

  #capabilities({ options, extensions, sharedClient }: CallScope): ClientCapabilities {
    const declared = this.#options.capabilities(options.input, sharedClient);
    return extensions ? { ...declared, extensions: { ...declared.extensions, ...extensions } } : declared;
  }

  #factsFor(method: string, params: Params | undefined): ToolFacts {
    if (method !== "tools/call") return UNKNOWN_TOOL;
    return this.tools.get(String(params?.["name"])) ?? UNKNOWN_TOOL;
  }

  /** True if the request may be sent again; prepares that first if necessary. */
  async #recover(error: NexusError, session: Agreement, attempt: FailedAttempt): Promise<boolean> {
    const { method, params, scope, history } = attempt;
    const { rpc } = error.details;
    // The call had begun and asked a question; repeating it would ask the same question again.
    if (scope.questions !== history.questions) return false;
    if (hasForgotten(session, error) && !history.renewed) {
      history.renewed = true;
      await scope.until(this.renew(session));
      return true;
    }
    if (rpc?.code === HEADER_MISMATCH && method === "tools/call" && !history.reloaded) {
      history.reloaded = true;
      await this.#options.reloadTools(scope);
      return true;
    }
    if (this.peer.gone) return false;
    const harmlessTool = this.#factsFor(method, params).harmless;
    const delayMs = retryDelayMs(error, { method, tries: history.tries++, harmlessTool }, this.#options.retry);
    if (delayMs === undefined || delayMs >= scope.remainingMs) return false;
    await scope.sleep(delayMs);
    return true;
  }

  /** Opens a new session. Concurrent callers share it. */
  renew(forgotten: Agreement): Promise<void> {
    if (this.agreement !== forgotten) return Promise.resolve();
    this.#renewing ??= this.#options
      .renew()
      .then((agreement) => {
        this.agreement = agreement;
        this.#renewing = undefined;
        this.#options.onRenewed();
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  #checkKind(method: string, result: Result, scope: CallScope): void {
    const kind = result.resultType;
    if (kind === undefined || kind === "complete") return;
    if (kind === "input_required" && isInteractive(method)) return;
    const { extensions } = this.#capabilities(scope);
    if (kind === "task" && isRecord(extensions) && TASKS_EXTENSION in extensions) return;
    throw new NexusError("PROTOCOL_VIOLATION", `The server answered ${method} with the unknown result type "${kind}"`, {
      raw: result,
      mayHaveReached: true,
    });
  }
}

interface DeclaredMeta {
  input: InputProvider | undefined;
  logLevel: LogLevel | undefined;
  meta: Record<string, unknown>;
}

interface History {
  tries: number;
  renewed: boolean;
  reloaded: boolean;
  /** Whether an attempt may have had an effect. */
  reached: boolean;
  /** The number of questions before this attempt. */
  questions: number;
}

interface FailedAttempt {
  method: string;
  params: Params | undefined;
  scope: CallScope;
  /** Undefined where it was not sent. */
  session: Agreement | undefined;
  history: History;
}

/** A server that answers 429, or that has forgotten the session, has not run the request. */
function mayHaveRun(error: NexusError, session: Agreement): boolean {
  if (error.details.status === 429 || hasForgotten(session, error)) return false;
  return error.details.mayHaveReached ?? true;
}

function hasForgotten({ sessionId }: Agreement, { details: { status, rpc, raw } }: NexusError): boolean {
  return sessionId !== undefined && isSessionForgotten({ status, rpc, text: raw });
}

/** Without `baggage`, which is for the server alone and not for what is in between. */
function withCorrelation(headers: Record<string, string>, { trace, correlationId }: CallOptions) {
  const all = { ...headers };
  if (correlationId !== undefined) all["x-request-id"] = correlationId;
  if (trace) all["traceparent"] = trace.traceparent;
  if (trace?.tracestate !== undefined) all["tracestate"] = trace.tracestate;
  return all;
}

/** Adds our reserved keys to the caller's own `_meta`. */
function withMeta(params: Params | undefined, meta: Record<string, unknown>): Params {
  if (!params || !("_meta" in params)) return { _meta: meta, ...params };
  const own = params["_meta"];
  return { ...params, _meta: isRecord(own) ? Object.assign({}, own, meta) : meta };
}
