import { NexusError } from "../errors/nexus-error.ts";
import type { SecretStore } from "./secrets.ts";

/** A secret that is about to be sent. */
interface SecretUse {
  name: string;
  /** The address, as `https://api.example`. */
  origin: string;
  /** Whether the user agreed to this address, so that a secret without origins may be limited to it. */
  mayBind: boolean;
  onBound?: ((name: string, origin: string) => void) | undefined;
}

/**
 * The value of a secret for a request to an origin; undefined if it is not stored. Throws if it may not be sent there.
 */
export async function secretFor(store: SecretStore, use: SecretUse): Promise<string | undefined> {
  const { name, origin, mayBind, onBound } = use;
  let secret = await store.get(name);
  if (secret && !secret.origins && mayBind) {
    secret = await store.bind(name, origin);
    if (secret?.origins?.includes(origin)) onBound?.(name, origin);
  }
  if (secret && !secret.origins?.includes(origin)) throw notAllowed([name], origin);
  return secret?.value;
}

/** For the log: from now on the secret is sent to no other address. */
export function boundMessage(name: string, origin: string): string {
  return `The secret ${name} is now limited to ${origin}`;
}

export function notAllowed(names: readonly string[], origin: string): NexusError {
  const what = names.length === 1 ? `The secret ${names[0]}` : `The secrets ${names.join(", ")}`;
  const commands = names.map((name) => `nexus secrets allow ${name} ${origin}`);
  return new NexusError("UNTRUSTED", `${what} may not be sent to ${origin}. Nothing was sent`, {
    phase: "config",
    hint: `"nexus secrets list" shows where secrets may be sent. To allow this address: ${commands.join(", ")}`,
    mayHaveReached: false,
  });
}
