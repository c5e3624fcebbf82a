import { randomUUID } from "node:crypto";
import { NexusError } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, type Params } from "../../protocol/json-rpc.ts";
import { principalKey } from "../../server/core/principal.ts";
import { closedKey, type GatewayExchange } from "../names/view.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import type { Seal } from "../../server/core/seal.ts";

/** The state that a caller carries between the rounds of its call. */
export type RequestState =
  /**
   * The state of a modern server, if it sent one. `roots`: the questions that the gateway answers itself. `consent`:
   * the ticket of a call that got consent.
   */
  | { kind: "passed"; state?: unknown; roots?: string[]; consent?: string }
  /** A parked call. */
  | { kind: "parked"; call: string; round: number };

const MAX_CONSENTS = 10_000;

/** Seals the state of calls. A sealed state is valid for a limited time, for one principal and one call. */
export class RequestStates {
  readonly #seal: Seal;
  readonly #lifeMs: number;
  /** Unused consent tickets; each is valid for one more round. */
  readonly #consents: ExpiringMap<true>;

  constructor(seal: Seal, lifeMs: number) {
    this.#seal = seal;
    this.#lifeMs = lifeMs;
    this.#consents = new ExpiringMap(lifeMs, () => {});
  }

  /** Returns a ticket, so that the next round of the call needs no consent. */
  keepConsent(): string {
    const ticket = randomUUID();
    if (this.#consents.size >= MAX_CONSENTS) this.#consents.takeOldest(() => true);
    this.#consents.set(ticket, true);
    return ticket;
  }

  takeConsent(state: RequestState): boolean {
    // A parked call is never made again, so it needs no consent.
    if (state.kind === "parked") return true;
    return state.consent !== undefined && this.#consents.take(state.consent) === true;
  }

  seal(state: RequestState, binding: string): string {
    return this.#seal.seal({ ...state, until: Date.now() + this.#lifeMs }, binding);
  }

  /** All refusals have the same message, so that a forger learns nothing from it. */
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

/** What must be the same when a call is continued: principal, server, method and parameters, and the set or search view if it is in one. */
export function bindingOf(
  { principal, endpoint: view }: Pick<GatewayExchange, "principal" | "endpoint">,
  { server, method, params }: { server: string; method: string; params: Params },
): string {
  const { _meta, inputResponses: _responses, requestState: _state, task: _task, ...asked } = params;
  const bound = ["request state", principalKey(principal), server, digestOf([method, asked])];
  const within = closedKey(view);
  return JSON.stringify(within === undefined ? bound : [...bound, within]);
}

/** The same digest for values with the same JSON. */
export function digestOf(value: unknown): string {
  return sha256(JSON.stringify(value, inOrder));
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
