import { LazyCredentials } from "../../auth/authorize/lazy-credentials.ts";
import { OAuthCredentials } from "../../auth/authorize/oauth-credentials.ts";
import { checkedOAuth, type OAuthOptions } from "../../auth/oauth/oauth-options.ts";
import { MemoryCredentials } from "../../auth/oauth/stored-credential.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import type { HttpNetwork } from "../../net/http-network.ts";
import type { Logger } from "../../text/logger.ts";

/** OAuth as a page does it: over the network of the connection, with the redirect of the page. */
export function openWebOAuth(
  server: string,
  options: OAuthOptions,
  { network, logger }: { network: HttpNetwork; logger: Logger | undefined },
) {
  const { storage = new MemoryCredentials(), login, ...settings } = checkedOAuth(options);
  const hidden = new HiddenValues([]);
  const open = () =>
    Promise.resolve(
      new OAuthCredentials({
        server,
        settings,
        storage,
        login,
        // Closed with the connection, which may need another token later.
        http: { openNetwork: () => Promise.resolve(keptOpen(network)) },
        logger,
        onSecret: (secret) => hidden.add([secret]),
      }),
    );
  const credentials = new LazyCredentials({ server, storage, name: undefined, hidden, open });
  return { credentials, hidden, needsPerson: login !== undefined };
}

function keptOpen(network: HttpNetwork): HttpNetwork {
  const close = () => Promise.resolve();
  const { guard, deadlines } = network;
  return {
    guard,
    deadlines,
    dispatcher: (origin, credential) => network.dispatcher(origin, credential),
    proxyFor: (origin) => network.proxyFor(origin),
    close,
    [Symbol.asyncDispose]: close,
  };
}
