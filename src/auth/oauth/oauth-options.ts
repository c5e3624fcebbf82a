import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
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

const OPTIONS: OptionNames<OAuthOptions> = {
  grant: true,
  clientId: true,
  clientSecret: true,
  privateKey: true,
  signingAlgorithm: true,
  keyId: true,
  issuer: true,
  clientMetadataUrl: true,
  clientName: true,
  scopes: true,
  redirectUrl: true,
  callbackPort: true,
  assertion: true,
  identityProvider: true,
  dpop: true,
  storage: true,
  login: true,
};

/** The same options; throws if one is not known. */
export function checkedOAuth(options: OAuthOptions): OAuthOptions {
  checkOptions("auth", options, OPTIONS);
  return options;
}
