import { boundMessage, secretFor } from "../../../auth/secret-origins.ts";
import type { SecretStore } from "../../../auth/secrets.ts";
import type { ServerInstance } from "../../../auth/server-instance.ts";
import type { Logger } from "../../../text/logger.ts";
import type { FindSecret } from "./credentials.ts";

export interface ApiSecretsOptions {
  /** The name that the tool file gives its API. */
  api: string;
  instance: ServerInstance;
  /** Requests go to another address than the one that was approved with the file. */
  isStandIn: boolean;
  logger: Logger;
}

/**
 * Stored secrets for the requests of one API, each for the origins that it is allowed for. One without any, as older
 * versions stored them, is limited to the address of the approved file, and never to one that stands in for it.
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
    // Secrets were once stored by the name of the API, whichever server they are for.
    return (await store.adopt(name, `${api}${name.slice(server.length)}`)) && find(name, origin);
  };
}
