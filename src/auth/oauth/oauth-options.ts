import type { LoginHandler } from "./login-handler.ts";
import type { OAuthSettings } from "./oauth-settings.ts";
import type { CredentialStorage } from "./stored-credential.ts";

/** How a program authorizes itself to one server. */
export interface OAuthOptions extends OAuthSettings {
  /** Where tokens and registrations are kept; default: in memory, for this connection only. */
  storage?: CredentialStorage | undefined;
  /** Lets a person log in. Without it, a server that requires a login is an error. */
  login?: LoginHandler | undefined;
}
