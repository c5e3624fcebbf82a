import type { TrustStore } from "../../config/trust/trust-store.ts";

/** "Trust this project, this time" means what the user could see then, not what somebody writes into it later. */
export class TrustAtFirstSight {
  readonly #store: TrustStore;
  readonly #seen = new Map<string, string>();

  constructor(store: TrustStore) {
    this.#store = store;
  }

  /** For reading the first time: everything is trusted, and remembered for this run. */
  get first(): TrustStore {
    return {
      ...this.#changing,
      isTrusted: (file, fingerprint) => {
        this.#seen.set(file, fingerprint);
        return Promise.resolve(true);
      },
    };
  }

  /** For reading again, once the first time is over. */
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

/** What is seen first of a file is trusted for this run; another version of it only if the store says so. */
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
