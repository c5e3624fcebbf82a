import { boundMessage, secretFor } from "../../../auth/secret-origins.ts";
import type { SecretStore } from "../../../auth/secrets.ts";
import type { ServerInstance } from "../../../auth/server-instance.ts";
import type { Logger } from "../../../text/logger.ts";
import type { FindSecret } from "./secret-lookup.ts";

/** Stores a new value under the full name of a secret, which keeps its origins. */
export type SaveSecret = (name: string, value: string) => Promise<void>;

interface ApiSecretsOptions {
  /** The name that the tool file gives its API. */
  api: string;
  instance: ServerInstance;
  /** Whether requests go to another address than the approved one. */
  isStandIn: boolean;
  logger: Logger;
}

/**
 * Stored secrets for the requests of one API, each for its allowed origins. A secret without origins, from an older
 * version, is limited to the address of the approved file, and never to a replacement of it.
 */
export function apiSecrets(store: SecretStore, options: ApiSecretsOptions): FindSecret {
  const { api, instance, isStandIn, logger } = options;
  const { server } = instance;
  const onBound = (secret: string, origin: string) => logger.warn(boundMessage(secret, origin));
  const find = async (name: string, origin: string | undefined) =>
    origin === undefined
      ? (await store.get(name))?.value
      : secretFor(store, { name, origin, mayBind: !isStandIn, onBound });
  return async (name, origin) => {
    const value = await find(name, origin);
    if (value !== undefined || server === api) return value;
    // Older versions stored secrets under the name of the API, for all its servers.
    return (await store.adopt(name, `${api}${name.slice(server.length)}`)) && find(name, origin);
  };
}
