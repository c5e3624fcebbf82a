import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { isServerId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { parseSetDefinition, type SetDefinition } from "./set-definition.ts";

/** The sets of all tenants, as they are now. They may change while the gateway runs. */
export interface SetSource {
  /** Undefined if the tenant has no such set. The same object as long as the set is unchanged. */
  find(tenant: string, name: string): SetDefinition | undefined;
  /** The names of a tenant's sets. Without it, a pinned set counts from its first use on. */
  names?(tenant: string): Iterable<string>;
  /** Called after sets were created, changed or removed. The returned function removes the listener. */
  onChanged(listener: () => void): () => void;
}

/** Sets that a program keeps itself. */
export class MemorySets implements SetSource {
  readonly #tenants = new Map<string, ReadonlyMap<string, SetDefinition>>();
  readonly #listeners = new Set<() => void>();

  /** The sets of the tenant `default`. Throws if a definition is invalid. */
  constructor(definitions: Readonly<Record<string, SetDefinition>> = {}) {
    this.replace(definitions);
  }

  /** Replaces all sets of a tenant. Throws if a definition is invalid; then nothing is replaced. */
  replace(definitions: Readonly<Record<string, SetDefinition>>, tenant = DEFAULT_TENANT): void {
    const entries = Object.entries(definitions).map(([name, definition]): [string, SetDefinition] => {
      if (!isServerId(name)) throw invalidName(name);
      parseSetDefinition(definition);
      return [name, definition];
    });
    this.#tenants.set(tenant, new Map(entries));
    for (const listener of this.#listeners) listener();
  }

  find(tenant: string, name: string): SetDefinition | undefined {
    return this.#tenants.get(tenant)?.get(name);
  }

  names(tenant: string): Iterable<string> {
    return this.#tenants.get(tenant)?.keys() ?? [];
  }

  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function invalidName(name: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", `${JSON.stringify(name)} is not a valid name for a set`, {
    hint: "Use 1 to 32 lower-case letters, digits and dashes, starting with a letter.",
    mayHaveReached: false,
  });
}
