import { readFile } from "node:fs/promises";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { EntryIdentityProvider } from "../../transport/entry-form.ts";
import type { EntryOAuth } from "../../transport/server-entry.ts";
import type { IdentityProvider, OAuthSettings } from "./oauth-settings.ts";

/** The settings of an entry's `oauth` key. Tokens in files are read at each use, because they are replaced from outside. */
export async function settingsOfEntry(entry: EntryOAuth): Promise<OAuthSettings> {
  const { privateKeyFile, assertionFile, identityProvider, ...settings } = entry;
  return {
    ...settings,
    ...(privateKeyFile !== undefined && { privateKey: await textOf(privateKeyFile, "privateKeyFile") }),
    ...(assertionFile !== undefined && { assertion: () => textOf(assertionFile, "assertionFile") }),
    ...(identityProvider && { identityProvider: providerOf(identityProvider) }),
  };
}

function providerOf({ idToken = "", idTokenFile, ...provider }: EntryIdentityProvider): IdentityProvider {
  const file = idTokenFile;
  return { ...provider, idToken: file === undefined ? idToken : () => textOf(file, "identityProvider.idTokenFile") };
}

async function textOf(file: string, key: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw new NexusError("CONFIG_INVALID", `The file of "oauth.${key}" cannot be read: ${messageOf(error)}`, {
      phase: "config",
      hint: "Check the path and the permissions of the file.",
      cause: error,
      mayHaveReached: false,
    });
  }
}
