import { callListener } from "../async/call-listener.ts";
import { Live } from "../async/live.ts";
import { messageOf } from "../errors/nexus-error.ts";
import { parseSetDefinition, type SetDefinition } from "../gateway/sets/set-definition.ts";
import type { SetSource } from "../gateway/sets/set-source.ts";
import type { KeptSet } from "../store/keep/sets.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "../text/logger.ts";

interface StoredSetsOptions {
  store: Pick<Store, "sets" | "changes">;
  logger: Logger;
}

interface ReadSet {
  text: string;
  /** Undefined if it cannot be used. */
  definition: SetDefinition | undefined;
}

/** The sets in the store, kept in memory and read again when they change, in whatever process. */
export class StoredSets implements SetSource, Disposable {
  readonly #options: StoredSetsOptions;
  readonly #listeners = new Set<() => void>();
  readonly #sets: Live<ReadonlyMap<string, ReadSet>>;

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: StoredSetsOptions): Promise<StoredSets> {
    const sets = new StoredSets(options);
    await sets.#sets.open();
    return sets;
  }

  private constructor(options: StoredSetsOptions) {
    this.#options = options;
    const { store, logger } = options;
    this.#sets = new Live<ReadonlyMap<string, ReadSet>>(new Map(), {
      changes: store.changes.of("sets"),
      read: (before) => this.#read(before),
      apply: () => this.#tell(),
      what: "changes of sets",
      logger,
    });
  }

  find(tenant: string, name: string): SetDefinition | undefined {
    return this.#sets.value.get(keyOf(tenant, name))?.definition;
  }

  names(tenant: string): Iterable<string> {
    const start = keyOf(tenant, "");
    return [...this.#sets.value.keys()].flatMap((key) => (key.startsWith(start) ? [key.slice(start.length)] : []));
  }

  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#sets[Symbol.dispose]();
  }

  #tell(): void {
    for (const listener of this.#listeners) callListener(listener, this.#options.logger);
  }

  /** What is unchanged stays the same object, so that it is not compiled again. */
  async #read(before: ReadonlyMap<string, ReadSet>): Promise<ReadonlyMap<string, ReadSet>> {
    const kept = await this.#options.store.sets.list();
    return new Map(
      kept.map((set) => {
        const key = keyOf(set.tenant, set.name);
        const known = before.get(key);
        return [key, known?.text === set.definition ? known : this.#parse(set)];
      }),
    );
  }

  #parse({ tenant, name, definition: text }: KeptSet): ReadSet {
    try {
      return { text, definition: parseSetDefinition(JSON.parse(text)) };
    } catch (error) {
      this.#options.logger.warn(`the set "${name}" of the tenant "${tenant}" is not served: ${messageOf(error)}`);
      return { text, definition: undefined };
    }
  }
}

function keyOf(tenant: string, name: string): string {
  return `${tenant}\n${name}`;
}
