import { NexusError } from "../../errors/nexus-error.ts";
import type { KnownList } from "./known-list.ts";
import { LIST_KINDS, type ListKind } from "../../protocol/list-kinds.ts";

export interface Reading {
  list: Promise<KnownList>;
  startedAt: number;
}

export interface ListSetOptions {
  /** Reads a list; `known` is the list as last read. */
  load: (kind: ListKind, known: KnownList | undefined) => Promise<KnownList>;
  /** Called when a call waits for a list. */
  hurry: () => void;
}

const REREAD_MS = 5_000;

/** The lists of one server for clients with the same capabilities, kept while they are fresh. */
export class ListSet {
  readonly #options: ListSetOptions;
  readonly #known = new Map<ListKind, KnownList>();
  readonly #readings = new Map<ListKind, Reading>();

  constructor(options: ListSetOptions) {
    this.#options = options;
  }

  get isBeingRead(): boolean {
    return this.#readings.size > 0;
  }

  /** The current or last reading; undefined if the list was never asked for. */
  latest(kind: ListKind): Promise<KnownList> | undefined {
    const known = this.#known.get(kind);
    return this.#readings.get(kind)?.list ?? (known && Promise.resolve(known));
  }

  /** The list as last read, no matter how long ago. */
  find(kind: ListKind): KnownList | undefined {
    return this.#known.get(kind);
  }

  /** Reads the list. Concurrent callers share the reading. */
  read(kind: ListKind): Reading {
    const running = this.#readings.get(kind);
    if (running) return running;
    const reading: Reading = { list: this.#options.load(kind, this.#known.get(kind)), startedAt: performance.now() };
    this.#readings.set(kind, reading);
    const forget = () => {
      if (this.#readings.get(kind) === reading) this.#readings.delete(kind);
    };
    reading.list.then(
      (list) => {
        // A list that changed while it was read must be read again.
        if (this.#readings.get(kind) === reading) this.#known.set(kind, list);
        forget();
      },
      (error: unknown) => {
        // A list that is invalid or has no end is not read again for each caller.
        const isBroken = error instanceof NexusError && error.code === "PROTOCOL_VIOLATION";
        if (isBroken) setTimeout(forget, REREAD_MS).unref();
        else forget();
      },
    );
    return reading;
  }

  /**
   * The list for checking a call: read once, and again after the server reports a change. If that fails, the old list
   * is used.
   */
  async current(kind: ListKind): Promise<KnownList> {
    const current = this.findCurrent(kind);
    if (current) return current;
    const known = this.#known.get(kind);
    this.#options.hurry();
    return this.read(kind).list.catch((error: unknown) => {
      if (!known) throw error;
      return known;
    });
  }

  /** The same, but only if nothing has to be read. */
  findCurrent(kind: ListKind): KnownList | undefined {
    const known = this.#known.get(kind);
    return known?.freshness.isOutdated ? undefined : known;
  }

  /** Marks lists as outdated, including those that are being read. */
  invalidate(kinds: readonly ListKind[] = LIST_KINDS): void {
    for (const kind of kinds) {
      this.#known.get(kind)?.freshness.expire();
      this.#readings.delete(kind);
    }
  }
}
