import type { TrustStore } from "../../config/trust/trust-store.ts";

/** "Trust this project for this run" covers what the user could see at that time, not later changes. */
export class TrustAtFirstSight {
  readonly #store: TrustStore;
  readonly #seen = new Map<string, string>();

  constructor(store: TrustStore) {
    this.#store = store;
  }

  /** For the first reading: everything is trusted, and remembered for this run. */
  get first(): TrustStore {
    return {
      ...this.#changing,
      isTrusted: (file, fingerprint) => {
        this.#seen.set(file, fingerprint);
        return Promise.resolve(true);
      },
    };
  }

  /** For later readings, after the first one has ended. */
  later(first: Promise<unknown>): TrustStore {
    return {
      ...this.#changing,
      isTrusted: async (file, fingerprint) => {
        await first.catch(() => {});
        return this.#seen.get(file) === fingerprint || this.#store.isTrusted(file, fingerprint);
      },
    };
  }

  get #changing(): Omit<TrustStore, "isTrusted"> {
    return {
      trustsFolders: true,
      trust: (file, fingerprint) => this.#store.trust(file, fingerprint),
      revoke: (file) => this.#store.revoke(file),
    };
  }
}

/** The first version of a file is trusted for this run; a later version only if the store trusts it. */
export function trustOnce(store: TrustStore): TrustStore {
  const seen = new Map<string, string>();
  return {
    async isTrusted(file, fingerprint) {
      const first = seen.get(file) ?? fingerprint;
      seen.set(file, first);
      return first === fingerprint || store.isTrusted(file, fingerprint);
    },
    trust: (file, fingerprint) => store.trust(file, fingerprint),
    revoke: (file) => store.revoke(file),
  };
}
