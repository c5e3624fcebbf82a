import type { StdioReach } from "../../transport/server-entry.ts";
import { gatewaysIn, isStartedBy, VIA_VARIABLE } from "../../transport/via-marks.ts";

/** How long a gateway is remembered after it called. */
const REMEMBERED_MS = 600_000;
const MAX_CALLERS = 32;

/**
 * The gateways for which a host works: those that started it, those that call it, and itself. Its servers receive this
 * list, so that a circle of gateways is noticed where it closes.
 */
export class GatewayChain {
  /** Not a secret: a caller that pretends to be this gateway only keeps this gateway from being called for a while. */
  readonly #id = Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");
  readonly #variables: Readonly<Record<string, string | undefined>>;
  /** The calling gateways, and until when they are remembered. */
  readonly #callers = new Map<string, number>();
  #gateways: readonly string[] | undefined;

  /** `variables`: the environment of this process. */
  constructor(variables: Readonly<Record<string, string | undefined>>) {
    this.#variables = variables;
  }

  /** Whether this process was started through such an entry. */
  isStartedBy(reach: StdioReach): boolean {
    return isStartedBy(reach, this.#variables);
  }

  /** All of them; the same array until they change. */
  gateways(): readonly string[] {
    if (this.#gateways) return this.#gateways;
    const inherited = gatewaysIn(this.#variables[VIA_VARIABLE]);
    return (this.#gateways = [...new Set([...inherited, ...this.#callers.keys(), this.#id])]);
  }

  /** Remembers the gateways in the header; false if the call has already passed through this gateway. */
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
