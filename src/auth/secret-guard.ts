import { SHORT_SECRET } from "../masking/hidden-values.ts";
import { secretFor } from "./secret-origins.ts";
import type { SecretStore } from "./secrets.ts";

/** A stored secret in the settings of an authorization. Where it is sent is known only when it is. */
interface AuthorizationSecret {
  name: string;
  value: string;
  /** It signs and is not sent itself: what it has signed counts as the secret. */
  isKey: boolean;
}

/** Stored secrets, which are never serialised. */
export class AuthorizationSecrets {
  readonly #secrets: readonly AuthorizationSecret[];

  constructor(secrets: readonly AuthorizationSecret[]) {
    this.#secrets = secrets;
  }

  /** The names of those that are sent with these texts. `isSigned`: one of them is signed with a key. */
  namesIn(texts: readonly string[], isSigned: boolean): string[] {
    const sent = this.#secrets.filter(({ value, isKey }) => {
      if (isKey) return isSigned;
      // A short one may be part of another text by chance.
      return texts.some((text) => text === value || (value.length >= SHORT_SECRET && text.includes(value)));
    });
    return [...new Set(sent.map(({ name }) => name))];
  }

  toJSON(): undefined {
    return undefined;
  }
}

/** Checks where the stored secrets of one entry are sent: authorization servers are named by others. */
export interface SecretGuard {
  /** Throws UNTRUSTED if a secret in these texts may not be sent to this origin. */
  check(origin: string, texts: readonly string[], isSigned: boolean): Promise<void>;
}

interface SecretGuardOptions {
  store: SecretStore;
  /** Called when a secret without origins is limited to the address that it is sent to first. */
  onBound?: ((name: string, origin: string) => void) | undefined;
}

export function secretGuard(secrets: AuthorizationSecrets, { store, onBound }: SecretGuardOptions): SecretGuard {
  return {
    async check(origin, texts, isSigned) {
      for (const name of secrets.namesIn(texts, isSigned)) {
        await secretFor(store, { name, origin, mayBind: true, onBound });
      }
    },
  };
}
