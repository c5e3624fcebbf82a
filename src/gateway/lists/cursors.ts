import { NexusError } from "../../errors/nexus-error.ts";
import { viewKey, type GatewayExchange } from "../names/view.ts";
import type { Seal } from "../../server/core/seal.ts";
import { principalKey } from "../../server/core/principal.ts";

/** Cursors as callers get them: sealed, and valid only for the same caller, endpoint and list. */
export class Cursors {
  readonly #seal: Seal;

  constructor(seal: Seal) {
    this.#seal = seal;
  }

  seal(position: unknown, exchange: GatewayExchange): string {
    return this.#seal.seal(position, boundTo(exchange));
  }

  /** Undefined for the first page. */
  open(exchange: GatewayExchange): unknown {
    const { cursor } = exchange.params;
    if (cursor === undefined) return undefined;
    const position = typeof cursor === "string" ? this.#seal.open(cursor, boundTo(exchange)) : undefined;
    if (position === undefined) throw invalidCursor();
    return position;
  }
}

export function invalidCursor(): NexusError {
  return new NexusError("ARGUMENTS_INVALID", "The cursor is not valid for this list. Start again without a cursor", {
    mayHaveReached: false,
  });
}

function boundTo({ principal, endpoint: view, method }: GatewayExchange): string {
  return JSON.stringify(["cursor", principalKey(principal), viewKey(view), method]);
}
