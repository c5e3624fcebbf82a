import { checkOptions } from "../../errors/check-options.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";
import type { Transport } from "../../transport/transport.ts";
import { CALL_OPTIONS, CallScope, type CallOptions } from "./call-scope.ts";
import type { Conversation } from "./conversation.ts";
import type { Deadlines } from "../../async/deadlines.ts";
import type { InputDesk, InputProvider } from "./input.ts";
import { runRounds } from "./rounds.ts";
import { SharedClient } from "./shared-client.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const NO_OPTIONS: CallOptions = {};
/** With those of calls that are more than one request: the task of a tool, the context of a completion, the agent of a host. */
const KNOWN_OPTIONS = { ...CALL_OPTIONS, task: true, ttlMs: true, onStatus: true, context: true, agent: true };
/** What the official SDK calls an option. */
const OTHER_NAMES = { timeout: "timeoutMs", onprogress: "onProgress", maxTotalTimeout: "totalTimeoutMs" } as const;

interface RequesterOptions {
  server: string;
  conversation: Conversation;
  desk: InputDesk;
  deadlines: Deadlines;
  /** Of a call that has none of its own. Undefined: the usual one, or what the server needs. */
  timeoutMs: number | undefined;
  transport: Pick<Transport, "longestCallMs">;
  maxRounds: number;
  /** Values that are masked in errors. */
  hidden: HiddenValues | undefined;
  /**
   * The client that makes the calls and answers their questions; undefined for the client that opened the connection.
   */
  sharedClient?: SharedClient | undefined;
}

/** Makes calls: gives each a scope, describes its errors, and runs rounds if the server asks questions. */
export class Requester {
  readonly server: string;
  readonly conversation: Conversation;
  readonly desk: InputDesk;
  readonly sharedClient: SharedClient | undefined;
  readonly #options: RequesterOptions;

  constructor(options: RequesterOptions) {
    this.server = options.server;
    this.conversation = options.conversation;
    this.desk = options.sharedClient?.desk ?? options.desk;
    this.sharedClient = options.sharedClient;
    this.#options = options;
  }

  get isModern(): boolean {
    return this.conversation.agreement.era === "modern";
  }

  /** Makes calls on the same conversation for another client, which answers its own questions. */
  answeredBy(input: InputProvider): Requester {
    return new Requester({ ...this.#options, sharedClient: new SharedClient(input, this.desk.shared()) });
  }

  async inScope<T>(call: CallRequest, run: (scope: CallScope) => Promise<T>): Promise<T> {
    const { method, params, options = NO_OPTIONS, extensions } = call;
    if (options !== NO_OPTIONS) checkOptions("a call", options, KNOWN_OPTIONS, OTHER_NAMES);
    const { deadlines, sharedClient, transport } = this.#options;
    // For each call: what the server needs may change while it is connected.
    const timeoutMs = this.#options.timeoutMs ?? Math.max(DEFAULT_TIMEOUT_MS, transport.longestCallMs ?? 0);
    const answered = sharedClient && !options.input ? { ...options, input: sharedClient.input } : options;
    const scope = new CallScope({ method, params }, answered, { deadlines, timeoutMs, extensions, sharedClient });
    try {
      sharedClient?.enter(scope);
      return await run(scope);
    } catch (error) {
      throw error instanceof NexusError ? this.#described(error, method) : error;
    } finally {
      sharedClient?.leave(scope);
      scope.finish();
    }
  }

  /** A server's own error is passed on unchanged, like its results. */
  #described(error: NexusError, method: string): NexusError {
    const described = error.with({ server: this.server, method, phase: "request" });
    const { hidden } = this.#options;
    return hidden && !error.details.rpc ? hidden.inError(described) : described;
  }

  /** One exchange; the result is unchanged. */
  request(call: CallRequest): Promise<Result> {
    return this.inScope(call, (scope) => this.conversation.exchange(call.method, call.params, scope));
  }

  /** Repeats the request until the result is complete. `onAsked` is called if there are questions. */
  rounds(call: CallRequest & { params: Params }, onAsked?: () => void): Promise<Result> {
    return this.inScope(call, (scope) => this.roundsIn(scope, onAsked));
  }

  roundsIn(scope: CallScope, onAsked?: () => void): Promise<Result> {
    const { method, params = {} } = scope.call;
    return runRounds(params, {
      exchange: (full) => {
        if (full["inputResponses"] !== undefined || full["requestState"] !== undefined) onAsked?.();
        return this.conversation.exchange(method, full, scope);
      },
      desk: this.desk,
      scope,
      maxRounds: this.#options.maxRounds,
    });
  }

  /** Throws if the server does not declare the capability. */
  require(capability: keyof ServerCapabilities, method: string): void {
    const declared = this.conversation.agreement.capabilities;
    if (!declared || declared[capability]) return;
    throw this.missing(method, `It declares: ${Object.keys(declared).join(", ") || "nothing"}.`);
  }

  missing(method: string, hint: string): NexusError {
    return new NexusError("CAPABILITY_MISSING", `Server "${this.server}" does not offer ${method}`, {
      server: this.server,
      method,
      mayHaveReached: false,
      hint,
    });
  }
}

interface CallRequest {
  method: string;
  params?: Params | undefined;
  options?: CallOptions | undefined;
  extensions?: Record<string, unknown> | undefined;
}
