import type { StdioReach } from "../../transport/server-entry.ts";
import { gatewaysIn, isStartedBy, VIA_VARIABLE } from "../../transport/via-marks.ts";

/** How long a gateway that called counts as one of those that this one works for. */
const REMEMBERED_MS = 600_000;
const MAX_CALLERS = 32;

/**
 * Which gateways a host works for: those it was started by, those that call it, and itself. Its servers are told, so that
 * one that leads back to any of them is noticed where the circle closes.
 */
export class GatewayChain {
  /** No secret: a caller that claims to be this gateway only keeps it from being called for a while. */
  readonly #id = Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");
  readonly #variables: Readonly<Record<string, string | undefined>>;
  /** Who called, and until when that counts. */
  readonly #callers = new Map<string, number>();
  #gateways: readonly string[] | undefined;

  /** `variables`: of this process. */
  constructor(variables: Readonly<Record<string, string | undefined>>) {
    this.#variables = variables;
  }

  /** Whether this process is there because a server was started by such an entry. */
  isStartedBy(reach: StdioReach): boolean {
    return isStartedBy(reach, this.#variables);
  }

  /** All of them; the same array until they change. */
  gateways(): readonly string[] {
    if (this.#gateways) return this.#gateways;
    const inherited = gatewaysIn(this.#variables[VIA_VARIABLE]);
    return (this.#gateways = [...new Set([...inherited, ...this.#callers.keys(), this.#id])]);
  }

  /** Takes note of who calls; false where the call has come through here before. */
  admit(header: unknown): boolean {
    if (header === undefined) return true;
    const gateways = gatewaysIn(header);
    if (gateways.includes(this.#id)) return false;
    const now = performance.now();
    const isKnown = gateways.every((id) => (this.#callers.get(id) ?? 0) > now);
    for (const id of gateways) this.#callers.set(id, now + REMEMBERED_MS);
    if (!isKnown) this.#forgetOthers(now);
    return true;
  }

  #forgetOthers(now: number): void {
    for (const [id, until] of this.#callers) {
      if (until <= now || this.#callers.size > MAX_CALLERS) this.#callers.delete(id);
    }
    this.#gateways = undefined;
  }
}
