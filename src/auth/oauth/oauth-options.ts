import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import type { LoginHandler } from "./login-handler.ts";
import { OAUTH_SETTINGS, type OAuthSettings } from "./oauth-settings.ts";
import type { CredentialStorage } from "./stored-credential.ts";

/** How a program authorizes itself to one server. */
export interface OAuthOptions extends OAuthSettings {
  /** Where tokens and registrations are kept; default: in memory, for this connection only. */
  storage?: CredentialStorage | undefined;
  /** Lets a person log in. Without it, a server that requires a login is an error. */
  login?: LoginHandler | undefined;
}

const OPTIONS: OptionNames<OAuthOptions> = { ...OAUTH_SETTINGS, storage: true, login: true };

/** The same options; throws if one is not known. */
export function checkedOAuth(options: OAuthOptions): OAuthOptions {
  checkOptions("auth", options, OPTIONS);
  return options;
}
