import { NexusError } from "../../errors/nexus-error.ts";
import type { KnownList } from "./known-list.ts";
import { LIST_KINDS, type ListKind } from "../../protocol/list-kinds.ts";

export interface Reading {
  list: Promise<KnownList>;
  startedAt: number;
}

export interface ListSetOptions {
  /** Reads a list; gets what was known of it before. */
  load: (kind: ListKind, known: KnownList | undefined) => Promise<KnownList>;
  /** Somebody waits for a list before a call goes on. */
  hurry: () => void;
}

const REREAD_MS = 5_000;

/** The lists of one server as it shows them to clients that declare the same, kept while they are good. */
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

  /** What is being read, or was last; undefined where nobody has asked. */
  latest(kind: ListKind): Promise<KnownList> | undefined {
    const known = this.#known.get(kind);
    return this.#readings.get(kind)?.list ?? (known && Promise.resolve(known));
  }

  /** As last read, however long ago. */
  find(kind: ListKind): KnownList | undefined {
    return this.#known.get(kind);
  }

  /** As it is now. Whoever asks at the same time shares the reading. */
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
        // What changed while it was being read is to be read again.
        if (this.#readings.get(kind) === reading) this.#known.set(kind, list);
        forget();
      },
      (error: unknown) => {
        // A list that cannot be used, or never ends, is not read again for each caller.
        const isBroken = error instanceof NexusError && error.code === "PROTOCOL_VIOLATION";
        if (isBroken) setTimeout(forget, REREAD_MS).unref();
        else forget();
      },
    );
    return reading;
  }

  /**
   * Good enough to judge a call by: read once, and again when the server says that it changed; while that cannot be read,
   * what was known before counts.
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

  /** The same where nothing has to be read for it. */
  findCurrent(kind: ListKind): KnownList | undefined {
    const known = this.#known.get(kind);
    return known?.freshness.isOutdated ? undefined : known;
  }

  /** It may have changed: what is known is old, and what is being read may be. */
  invalidate(kinds: readonly ListKind[] = LIST_KINDS): void {
    for (const kind of kinds) {
      this.#known.get(kind)?.freshness.expire();
      this.#readings.delete(kind);
    }
  }
}
