import { isRecord } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { declaredText } from "../declared-text.ts";
import {
  capabilitiesFor,
  capabilitiesForModern,
  legacyCapabilities,
  type CallerOutline,
} from "./upstream-capabilities.ts";

/** What is declared to a server when its lists are read. */
export interface CapabilitySet {
  capabilities: ClientCapabilities;
  /** The same for all who declare the same, in whatever order. */
  key: string;
}

/** What one caller's calls declare to servers of either era; worked out when it is asked for, and once. */
export class CallerCapabilities {
  readonly #caller: CallerOutline;
  readonly #sets = new Map<Era, CapabilitySet | undefined>();

  constructor(caller: CallerOutline) {
    this.#caller = caller;
  }

  get isEmpty(): boolean {
    return Object.keys(this.#caller.capabilities).length === 0;
  }

  /** Undefined where nothing is declared to servers of this era. */
  of(era: Era): CapabilitySet | undefined {
    if (!this.#sets.has(era)) this.#sets.set(era, capabilitySet(this.#declared(era)));
    return this.#sets.get(era);
  }

  #declared(era: Era): ClientCapabilities {
    const common = capabilitiesFor(this.#caller);
    return era === "legacy" ? legacyCapabilities(common) : capabilitiesForModern(this.#caller, common);
  }
}

function capabilitySet(declared: ClientCapabilities): CapabilitySet | undefined {
  if (Object.keys(declared).length === 0) return undefined;
  declaredText(declared);
  const capabilities = inOrder(declared) as ClientCapabilities;
  return { capabilities, key: JSON.stringify(capabilities) };
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  );
}
