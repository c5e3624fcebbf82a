import type { HiddenValues } from "../../errors/hidden-values.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";
import { CallScope, type CallOptions } from "./call-scope.ts";
import type { Conversation } from "./conversation.ts";
import type { Deadlines } from "../../async/deadlines.ts";
import type { InputDesk, InputProvider } from "./input.ts";
import { runRounds } from "./rounds.ts";
import { SharedClient } from "./shared-client.ts";

export interface RequesterOptions {
  server: string;
  conversation: Conversation;
  desk: InputDesk;
  deadlines: Deadlines;
  timeoutMs: number;
  maxRounds: number;
  /** What must not be seen in errors. */
  hidden: HiddenValues | undefined;
  /** Whose calls these are, and who answers questions during them; absent for the one who opened the connection. */
  sharedClient?: SharedClient | undefined;
}

/** Makes calls: each in a scope of its own, described in its errors, with rounds where the server may ask. */
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

  /** Makes calls on the same conversation for somebody else, who answers what the server asks during them. */
  answeredBy(input: InputProvider): Requester {
    return new Requester({ ...this.#options, sharedClient: new SharedClient(input, this.desk.shared()) });
  }

  async inScope<T>(call: CallRequest, run: (scope: CallScope) => Promise<T>): Promise<T> {
    const { method, params, options = {}, extensions } = call;
    const { deadlines, timeoutMs, sharedClient } = this.#options;
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

  /** A server's own error is passed on as it came, like its results. */
  #described(error: NexusError, method: string): NexusError {
    const described = error.with({ server: this.server, method, phase: "request" });
    const { hidden } = this.#options;
    return hidden && !error.details.rpc ? hidden.inError(described) : described;
  }

  /** One exchange; the result as it came. */
  request(call: CallRequest): Promise<Result> {
    return this.inScope(call, (scope) => this.conversation.exchange(call.method, call.params, scope));
  }

  /** Until the answer is complete. `onAsked` hears that there were questions. */
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

  /** Throws where the server is known not to offer something. */
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

export interface CallRequest {
  method: string;
  params?: Params | undefined;
  options?: CallOptions | undefined;
  extensions?: Record<string, unknown> | undefined;
}
