export interface RepeatedEventsOptions<About> {
  /** Records the number of events that were counted. */
  write: (about: About, counted: CountedEvents) => Promise<void> | undefined;
  /** Called when a window ends. */
  onEnd?: (() => void) | undefined;
  now?: (() => number) | undefined;
}

export interface CountedEvents {
  count: number;
  lastAt: number;
}

/** How long further events are counted before their number is recorded. */
const WINDOW_MS = 10_000;

/**
 * Counts events of the same kind. The first of a window is recorded at once by its owner, the others together with their
 * number: whoever repeats something that is refused must not fill the disk.
 */
export class RepeatedEvents<About> {
  readonly #options: RepeatedEventsOptions<About>;
  readonly #now: () => number;
  /** By kind: those that are not recorded yet. */
  readonly #counted = new Map<string, CountedEvents & { about: About }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RepeatedEventsOptions<About>) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Counts an event where there was one of its kind in this window; false where it has to be recorded. */
  count(kind: string): boolean {
    const counted = this.#counted.get(kind);
    if (!counted) return false;
    counted.count++;
    counted.lastAt = this.#now();
    return true;
  }

  /** The first event of its kind: those that follow are counted. */
  begin(kind: string, about: About): void {
    this.#counted.set(kind, { about, count: 0, lastAt: this.#now() });
    this.#timer ??= setTimeout(() => void this.end(), WINDOW_MS).unref();
  }

  /** Ends the window: records what was counted. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#options.onEnd?.();
    const counted = [...this.#counted.values()].filter(({ count }) => count > 0);
    this.#counted.clear();
    await Promise.allSettled(counted.map(async ({ about, ...events }) => this.#options.write(about, events)));
  }
}
