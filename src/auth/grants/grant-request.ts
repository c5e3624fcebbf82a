import type { CancelSignal } from "../../async/cancellation.ts";
import type { AuthorizationServer, CryptoKeyPair } from "oauth4webapi";
import type { AuthHttp } from "../oauth/auth-http.ts";
import type { OAuthSettings } from "../oauth/oauth-settings.ts";
import type { RegisteredClient } from "../oauth/stored-credential.ts";

/** What every request for a token needs. Each grant is a function from this to a `TokenSet`. */
export interface GrantRequest {
  /** The checked metadata of the authorization server. */
  server: AuthorizationServer;
  client: RegisteredClient;
  settings: OAuthSettings;
  resource: string;
  /** Undefined: no scope is asked for. */
  scopes: readonly string[] | undefined;
  http: AuthHttp;
  /** Present: the token is bound to this key (DPoP). */
  proofKey?: CryptoKeyPair | undefined;
  /** Default: the clock of this machine. */
  now?: (() => number) | undefined;
  /** Default: a timer. */
  wait?: ((ms: number, signal?: CancelSignal) => Promise<void>) | undefined;
}
