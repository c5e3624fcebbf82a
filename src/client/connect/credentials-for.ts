import { LazyCredentials } from "../../auth/authorize/lazy-credentials.ts";
import type { OAuthCredentials, OAuthCredentialsOptions } from "../../auth/authorize/oauth-credentials.ts";
import type { AuthHttpOptions } from "../../auth/oauth/auth-http.ts";
import type { LoginHandler } from "../../auth/oauth/login-handler.ts";
import type { SecretGuard } from "../../auth/secret-guard.ts";
import type { OAuthSettings } from "../../auth/oauth/oauth-settings.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import { isWritten, SILENT, type Logger } from "../../text/logger.ts";
import type { CredentialSource } from "../../transport/credential-source.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { hasAuthorization } from "../../transport/http-sender.ts";
import type { NetworkTrust } from "./connect-entry.ts";

/** How the requests to one server are authorized. */
interface AuthorizationOptions extends Pick<OAuthCredentialsOptions, "storage" | "loginHint" | "owner" | "logger"> {
  surroundings: Surroundings;
  /** The network to the server, which is also that to its authorization server. */
  trust: NetworkTrust;
  connectTimeoutMs?: number | undefined;
  /** Those of a program; the entry has the others. */
  settings?: OAuthSettings | undefined;
  login?: LoginHandler | undefined;
  /** Checks where stored secrets of the entry are sent. */
  guard?: SecretGuard | undefined;
  /** Other values that are masked in errors and in the log. */
  secrets?: HiddenValues | undefined;
  /** Called for every request to the authorization server. */
  onRequest?: AuthHttpOptions["onRequest"];
}

/** Authorizes the requests to a server as its entry says; undefined where it has an authorization of its own or none. */
export function credentialsFor(reach: HttpReach, options: AuthorizationOptions): CredentialSource | undefined {
  if (reach.oauth === false || hasAuthorization(reach)) return undefined;
  const hidden = new HiddenValues([]).with(options.secrets);
  return new LazyCredentials({
    server: reach.url,
    storage: options.storage,
    name: options.owner === undefined ? undefined : JSON.stringify([options.owner, reach.oauth?.clientId]),
    hidden,
    open: () => openOAuth(reach, { ...options, hidden }),
  });
}

/** The credential for a server, with everything that OAuth needs. */
export async function openOAuth(
  reach: HttpReach,
  options: AuthorizationOptions & { hidden?: HiddenValues | undefined },
): Promise<OAuthCredentials> {
  const { surroundings, trust, connectTimeoutMs, storage, login, loginHint, owner, logger } = options;
  const { hidden = new HiddenValues([]) } = options;
  const [{ OAuthCredentials: Credentials }, { settingsOfEntry }, { networkOptions }, { authNetwork }] =
    await Promise.all([
      import("../../auth/authorize/oauth-credentials.ts"),
      import("../../auth/oauth/entry-settings.ts"),
      import("./http-transport-for.ts"),
      import("../../auth/oauth/auth-network.ts"),
    ]);
  return new Credentials({
    server: reach.url,
    settings: { ...(await settingsOfEntry(reach.oauth || {})), ...options.settings },
    storage,
    login,
    http: {
      openNetwork: authNetwork({
        ...networkOptions(trust, surroundings),
        connectTimeoutMs,
        publicOnly: trust.publicOnly,
      }),
      guard: options.guard,
      onRequest: options.onRequest,
    },
    owner,
    loginHint,
    logger: logger && maskedLogger(logger, hidden),
    onSecret: (secret) => hidden.add([secret]),
  });
}

/** The same logger with the values masked in its messages. */
function maskedLogger(logger: Logger, hidden: HiddenValues): Logger {
  const at = (level: keyof Logger): Logger[keyof Logger] =>
    isWritten(logger, level) ? (message, data) => logger[level](hidden.in(message), data) : SILENT[level];
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
