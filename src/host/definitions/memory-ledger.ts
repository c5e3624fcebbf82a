import type { DefinitionLedger, NamedDefinition, ReadList, Standing, DefinitionChange } from "./definition-ledger.ts";
import { KnownDefinitions, reportedChanges } from "./known-definitions.ts";

/** A ledger that lasts as long as the process: the first list of each server is what is accepted. */
export class MemoryLedger implements DefinitionLedger {
  readonly keepsUnpinned = true;
  readonly #servers = new Map<string, KnownDefinitions>();
  readonly #listeners = new Set<(server: string) => void>();

  async compare(list: ReadList): Promise<DefinitionChange[]> {
    const known = this.#servers.get(list.server) ?? new KnownDefinitions();
    this.#servers.set(list.server, known);
    const differences = known.differences(list);
    for (const { place, now } of differences) known.set(place, now);
    return reportedChanges(list.server, differences);
  }

  standingOf(definition: NamedDefinition): Standing {
    return this.#servers.get(definition.server)?.standingOf(definition) ?? "unknown";
  }

  /** Accepts everything that a server lists now. */
  accept(server: string): void {
    const known = this.#servers.get(server);
    for (const { place, hashes } of known?.all() ?? []) {
      const { current } = hashes;
      if (place.kind !== "lists") known?.set(place, current === undefined ? undefined : { accepted: current, current });
    }
    for (const listener of this.#listeners) listener(server);
  }

  onAccepted(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
