import type { CallInfo } from "../../client/conversation/call-scope.ts";
import { totalTokens } from "../model/usage.ts";
import type { Usage } from "../model/model-provider.ts";
import { samplingDenied } from "./sampling-failure.ts";

/** What one server may use in one session. */
export interface SamplingLimits {
  /** Requests, including declined ones; default: 50. */
  requests: number;
  /** Input and output tokens together; default: 200,000. */
  tokens: number;
  /** Requests during one call; default: 20. Each round with tools is one. */
  requestsPerCall: number;
}

const DEFAULT_LIMITS: SamplingLimits = { requests: 50, tokens: 200_000, requestsPerCall: 20 };

/** Tokens that no other request can use until it is settled. */
export interface SamplingReservation {
  /** For the request, about. */
  input: number;
  /** For its answer. */
  maxTokens: number;
  /** Ends it with what was used; only the first call counts. */
  settle: (usage: Usage) => void;
}

interface Used {
  requests: number;
  tokens: number;
  /** Of requests that are running. */
  reserved: number;
}

/** Stops servers that ask in a loop. */
export class SamplingBudget {
  readonly #limits: SamplingLimits;
  readonly #used = new Map<string, Used>();
  readonly #perCall = new WeakMap<CallInfo, number>();

  constructor(limits: Partial<SamplingLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  left(server: string): { requests: number; tokens: number } {
    const { requests, tokens, reserved } = this.#usedBy(server);
    return {
      requests: Math.max(0, this.#limits.requests - requests),
      tokens: Math.max(0, this.#limits.tokens - tokens - reserved),
    };
  }

  /** Counts a request; throws DENIED if there are too many. */
  enter(server: string, call: CallInfo | undefined): void {
    const { requestsPerCall } = this.#limits;
    const left = this.left(server);
    if (left.requests === 0) throw limitReached(server, `${this.#limits.requests} requests in this session`);
    if (left.tokens === 0) throw limitReached(server, `${this.#limits.tokens} tokens in this session`);
    const during = (call && this.#perCall.get(call)) ?? 0;
    if (call && during >= requestsPerCall) throw limitReached(server, `${requestsPerCall} requests during one call`);
    if (call) this.#perCall.set(call, during + 1);
    this.#usedBy(server).requests++;
  }

  /** Reserves tokens for a request of about `input` tokens and its answer: at most `wanted`, and what is left. */
  reserve(server: string, wanted: number, input = 0): SamplingReservation {
    const used = this.#usedBy(server);
    const maxTokens = Math.min(wanted, this.left(server).tokens - input);
    if (maxTokens <= 0) throw limitReached(server, `${this.#limits.tokens} tokens in this session`);
    let reserved = maxTokens + input;
    used.reserved += reserved;
    const settle = (usage: Usage) => {
      if (reserved === 0) return;
      used.reserved -= reserved;
      used.tokens += totalTokens(usage);
      reserved = 0;
    };
    return { input, maxTokens, settle };
  }

  #usedBy(server: string): Used {
    const known = this.#used.get(server) ?? { requests: 0, tokens: 0, reserved: 0 };
    this.#used.set(server, known);
    return known;
  }
}

function limitReached(server: string, limit: string) {
  return samplingDenied(server, `its limit of ${limit} is reached`, "The server may be asking in a loop.");
}
