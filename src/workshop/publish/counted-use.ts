import type { UsedCalls, ApiInstance, VersionRecord } from "./published.ts";

interface CountedUseOptions {
  /** The number of calls since the last time, by hash. */
  take: () => Map<string, number>;
  state: () => {
    instance: Pick<ApiInstance, "server" | "api">;
    records: readonly Pick<VersionRecord, "hash" | "version">[];
  };
  save: (uses: readonly UsedCalls[]) => Promise<void>;
}

/** What a crash loses. */
const SAVE_MS = 5_000;

/** Saves from time to time how often each version is called. */
export class CountedUse implements AsyncDisposable {
  readonly #options: CountedUseOptions;
  readonly #timer: NodeJS.Timeout;
  /** By version; not saved yet. */
  readonly #pending = new Map<string, number>();
  #saving: Promise<void> | undefined;

  constructor(options: CountedUseOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#save(), SAVE_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#saving;
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#saving) return;
    this.#saving = this.#saveNow().finally(() => (this.#saving = undefined));
    await this.#saving;
  }

  /** What cannot be saved is saved with the next ones. */
  async #saveNow(): Promise<void> {
    const { take, state, save } = this.#options;
    const { instance, records } = state();
    for (const [hash, calls] of take()) {
      const version = records.findLast((record) => record.hash === hash)?.version;
      if (version !== undefined) this.#pending.set(version, (this.#pending.get(version) ?? 0) + calls);
    }
    if (this.#pending.size === 0) return;
    const { server, api } = instance;
    const at = Date.now();
    const uses = [...this.#pending].map(([version, calls]) => ({ server, api, version, calls, at }));
    this.#pending.clear();
    await save(uses).catch(() => {
      for (const { version, calls } of uses) this.#pending.set(version, (this.#pending.get(version) ?? 0) + calls);
    });
  }
}
