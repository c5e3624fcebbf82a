import { principalKey } from "../core/principal.ts";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import { REQUEST_STATE_HOURS } from "../../protocol/modern.ts";
import { sha256 } from "../../text/digest.ts";
import type { Exchange } from "../core/core.ts";
import { rpcError } from "../core/rpc-error.ts";
import { Seal } from "../core/seal.ts";
import type { InputAnswers } from "./call-context.ts";

const LIFETIME_MS = REQUEST_STATE_HOURS * 3_600_000;

/** What one round of a call leaves to the next. */
interface SealedRound {
  answers: InputAnswers;
  /** The questions that the client got with it. */
  asked: string[];
  /** What the handler noted for itself. */
  note?: string;
}

/**
 * Seals the answers of earlier rounds into `requestState`, so that the server keeps nothing between them. The client
 * carries the seal and may be hostile: it expires, and fits one request of one caller only.
 */
export class SealedRounds {
  readonly #seal: Seal;

  /** Servers with the same key open what another one has sealed. */
  constructor(key?: Uint8Array) {
    this.#seal = new Seal(key && Buffer.from(key));
  }

  seal(round: SealedRound, exchange: Exchange): string {
    return this.#seal.seal({ ...round, until: Date.now() + LIFETIME_MS }, bindingOf(exchange));
  }

  /** One wording for every reason to refuse: a forger learns nothing from it. */
  open(state: unknown, exchange: Exchange): SealedRound {
    const opened = typeof state === "string" ? this.#seal.open(state, bindingOf(exchange)) : undefined;
    if (!isRecord(opened) || Number(opened["until"]) < Date.now()) {
      throw rpcError(INVALID_PARAMS, "The request state is not valid.");
    }
    return opened as unknown as SealedRound;
  }
}

/** What must stay the same between the rounds of one request, and who makes it. */
function bindingOf({ method, params: { name, uri, arguments: args }, principal, caller }: Exchange): string {
  const asked = sha256(JSON.stringify([method, name, uri, args]));
  return JSON.stringify(["round", principalKey(principal), caller.onBehalfOf, asked]);
}
