import { randomUUID } from "node:crypto";
import { NexusError } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params } from "../../protocol/json-rpc.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import type { Seal } from "../../server/core/seal.ts";

/** What a caller carries between the rounds of its call. */
export type RequestState =
  /**
   * A modern server's own state, none where none came; `roots` are the questions that the gateway answers itself, `consent`
   * the ticket of a call that was consented to.
   */
  | { kind: "passed"; state?: unknown; roots?: string[]; consent?: string }
  /** A call that waits here. */
  | { kind: "parked"; call: string; round: number };

const MAX_CONSENTS = 10_000;

/** Seals the states of calls: each is good for a while, for the one who made the call, and for that call alone. */
export class RequestStates {
  readonly #seal: Seal;
  readonly #lifeMs: number;
  /** Tickets of consent that were not used yet: each is good for one further round. */
  readonly #consents: ExpiringMap<true>;

  constructor(seal: Seal, lifeMs: number) {
    this.#seal = seal;
    this.#lifeMs = lifeMs;
    this.#consents = new ExpiringMap(lifeMs, () => {});
  }

  /** The call was consented to: its next round need not be, once. */
  keepConsent(): string {
    const ticket = randomUUID();
    if (this.#consents.size >= MAX_CONSENTS) this.#consents.takeOldest(() => true);
    this.#consents.set(ticket, true);
    return ticket;
  }

  takeConsent(state: RequestState): boolean {
    // A call that waits here is never made again, however often its caller comes back.
    if (state.kind === "parked") return true;
    return state.consent !== undefined && this.#consents.take(state.consent) === true;
  }

  seal(state: RequestState, binding: string): string {
    return this.#seal.seal({ ...state, until: Date.now() + this.#lifeMs }, binding);
  }

  /** One wording for every reason to refuse: a forger learns nothing from it. */
  open(text: unknown, binding: string): RequestState {
    const opened = typeof text === "string" ? this.#seal.open(text, binding) : undefined;
    if (!isRecord(opened) || typeof opened["until"] !== "number" || opened["until"] < Date.now()) throw invalidState();
    return opened as unknown as RequestState;
  }
}

export function invalidState(): NexusError {
  const message = "request state not valid";
  return new NexusError("ARGUMENTS_INVALID", message, {
    rpc: { code: INVALID_PARAMS, message },
    mayHaveReached: false,
  });
}

/** What has to be the same when a call is made again: who calls, which server, what for. */
export function bindingOf(
  principal: Principal,
  { server, method, params }: { server: string; method: string; params: Params },
): string {
  const { _meta, inputResponses: _responses, requestState: _state, task: _task, ...asked } = params;
  return JSON.stringify(["request state", principalKey(principal), server, digestOf([method, asked])]);
}

/** The same for values that JSON does not tell apart. */
export function digestOf(value: unknown): string {
  return sha256(JSON.stringify(value, inOrder));
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
