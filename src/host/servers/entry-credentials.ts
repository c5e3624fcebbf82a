import { scopeOptions } from "./scope-options.ts";
import { secretGuard } from "../../auth/secret-guard.ts";
import { boundMessage } from "../../auth/secret-origins.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { ownCredential, type CredentialStorage } from "../../auth/oauth/stored-credential.ts";
import { credentialsFor } from "../../client/connect/credentials-for.ts";
import type { NetworkTrust } from "../../client/connect/connect-entry.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { Logger } from "../../text/logger.ts";
import type { CredentialSource } from "../../transport/credential-source.ts";
import { needsPerson } from "../../transport/entry-form.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";

interface EntryCredentialsOptions {
  surroundings: Surroundings;
  storage: CredentialStorage;
  tenant: string | undefined;
  /** What a person should do to log in to a server. */
  loginHint: ((definition: ServerDefinition, scopes: readonly string[]) => string) | undefined;
  logger: Logger;
  /** Where stored secrets in entries are from. */
  secrets: SecretStore;
}

interface Known {
  /** What the source was made of. */
  key: string;
  reach: HttpReach;
  source: CredentialSource | undefined;
}

/** The credential sources of a host's servers: all connections of one entry share one. Nobody can log in here. */
export class EntryCredentials {
  readonly #options: EntryCredentialsOptions;
  readonly #byServer = new Map<string, Known>();

  constructor(options: EntryCredentialsOptions) {
    this.#options = options;
  }

  sourceFor(definition: ServerDefinition, reach: HttpReach, trust: NetworkTrust): CredentialSource | undefined {
    const { id } = definition;
    const key = JSON.stringify([reach, trust]);
    const known = this.#byServer.get(id);
    if (known?.key === key) return known.source;
    const source = this.#open(definition, reach, trust);
    this.#byServer.set(id, { key, reach, source });
    return source;
  }

  /** Whether somebody has logged in since the last refusal; undefined where that would not help. */
  hasNewLogin(server: string): Promise<boolean> | undefined {
    const { source, reach } = this.#byServer.get(server) ?? {};
    if (!source || !reach || !needsPerson((reach.oauth || {}).grant)) return undefined;
    return this.#isNewer(source, reach);
  }

  async #isNewer(source: CredentialSource, { url, oauth }: HttpReach): Promise<boolean> {
    const tokens = ownCredential(await this.#options.storage.load(url), oauth || {})?.tokens;
    const used = source.findHeaders({ method: "POST", url })?.["authorization"];
    return tokens !== undefined && `${tokens.type} ${tokens.accessToken}` !== used;
  }

  #open(definition: ServerDefinition, reach: HttpReach, trust: NetworkTrust): CredentialSource | undefined {
    const { surroundings, storage, tenant = DEFAULT_TENANT, logger, loginHint = hintFor(tenant) } = this.#options;
    const hint = (scopes: readonly string[]) => loginHint(definition, scopes);
    const { authorizationSecrets, secrets } = definition;
    const onBound = (name: string, origin: string) => logger.warn(boundMessage(name, origin));
    const guard = authorizationSecrets && secretGuard(authorizationSecrets, { store: this.#options.secrets, onBound });
    return credentialsFor(reach, {
      surroundings,
      trust,
      storage,
      owner: tenant,
      loginHint: hint,
      logger,
      guard,
      secrets,
    });
  }
}

function hintFor(tenant: string): (definition: ServerDefinition, scopes: readonly string[]) => string {
  const more = tenant === DEFAULT_TENANT ? "" : ` --tenant ${tenant}`;
  return ({ id }, scopes) => `Run "nexus mcp login ${id}${more}${scopeOptions(scopes)}".`;
}
