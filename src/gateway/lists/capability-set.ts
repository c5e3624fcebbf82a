import { NexusError } from "../../errors/nexus-error.ts";
import { inOrder } from "../../json/canonical-json.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { declaredText } from "../../server/core/declared-text.ts";
import {
  capabilitiesFor,
  capabilitiesForModern,
  legacyCapabilities,
  type CallerOutline,
} from "../upstream/upstream-capabilities.ts";

/** The capabilities that are declared to a server when its lists are read. */
export interface CapabilitySet {
  capabilities: ClientCapabilities;
  /** The same for equal capabilities in any order. */
  key: string;
}

/** The capabilities of one caller's calls, for servers of either era. Computed on first use. */
export class CallerCapabilities {
  readonly isEmpty: boolean;
  readonly #caller: CallerOutline;
  readonly #sets = new Map<Era, CapabilitySet | undefined>();

  constructor(caller: CallerOutline) {
    this.#caller = caller;
    this.isEmpty = Object.keys(caller.capabilities).length === 0;
  }

  /** Undefined if nothing is declared to servers of this era. */
  of(era: Era): CapabilitySet | undefined {
    if (!this.#sets.has(era)) this.#sets.set(era, capabilitySet(this.#declared(era)));
    return this.#sets.get(era);
  }

  #declared(era: Era): ClientCapabilities {
    const common = capabilitiesFor(this.#caller);
    return era === "legacy" ? legacyCapabilities(common) : capabilitiesForModern(this.#caller, common);
  }
}

const MAX_KEPT = 256;
/** Longer declarations are not cached. */
const MAX_LENGTH = 1_024;

/** Caches the capabilities: a caller declares the same with each request. */
export class DeclaredCapabilities {
  readonly #kept = new Map<string, CallerCapabilities>();

  of(caller: CallerOutline): CallerCapabilities {
    const { era, capabilities, ask } = caller;
    const text = JSON.stringify(capabilities);
    if (text.length > MAX_LENGTH) return new CallerCapabilities(caller);
    const key = `${era} ${ask ? "asked" : "told"} ${text}`;
    const known = this.#kept.get(key);
    if (known) return known;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    // Keep nothing else of the caller.
    const kept = new CallerCapabilities({ era, owner: "", capabilities, ask: ask && unasked });
    this.#kept.set(key, kept);
    return kept;
  }
}

const unasked = () => Promise.reject(new NexusError("CLOSED", "The call has ended"));

function capabilitySet(declared: ClientCapabilities): CapabilitySet | undefined {
  if (Object.keys(declared).length === 0) return undefined;
  declaredText(declared);
  const capabilities = inOrder(declared) as ClientCapabilities;
  return { capabilities, key: JSON.stringify(capabilities) };
}
