import { ownerKey } from "../../server/core/principal.ts";
import type { GatewayExchange } from "../names/view.ts";

/** The least recently noted ones are forgotten: their callers have to be treated as unknown. */
const MAX_NOTED = 20_000;

type Asking = Pick<GatewayExchange, "principal" | "caller">;

/**
 * Which state of a server's tools each caller has seen in its last list. A caller is a session or, where there is none, a
 * principal with the name of its client.
 */
export class SeenVersions {
  readonly #noted = new Map<string, string>();

  note(asking: Asking, server: string, version: string): void {
    const key = keyOf(asking, server);
    this.#noted.delete(key);
    this.#noted.set(key, version);
    if (this.#noted.size <= MAX_NOTED) return;
    const [oldest] = this.#noted.keys();
    if (oldest !== undefined) this.#noted.delete(oldest);
  }

  /** Empty if it is not known. */
  find(asking: Asking, server: string): string {
    return this.#noted.get(keyOf(asking, server)) ?? "";
  }
}

function keyOf({ principal, caller }: Asking, server: string): string {
  const client = caller.era === "modern" ? (caller.client?.name ?? "") : "";
  return `${server}\n${ownerKey(principal, caller.owner)}\n${client}`;
}
