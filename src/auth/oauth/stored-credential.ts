import { Turns } from "../../async/turns.ts";

/** What is kept about the authorization to one server. It belongs to one issuer and is never used with another. */
export interface StoredCredential {
  /** The URL of the MCP server. */
  server: string;
  issuer: string;
  /** The `resource` of every request to the authorization server (RFC 8707). */
  resource: string;
  client: RegisteredClient;
  tokens?: TokenSet | undefined;
  /** Random: names the login of a person from which the tokens are. */
  loginName?: string | undefined;
  /** All scopes that were ever asked for: a step-up asks for their union. */
  scopes: readonly string[];
  /** The private key of DPoP, as JWK. */
  proofKey?: Readonly<Record<string, unknown>> | undefined;
}

/** What of a credential an entry uses: tokens that were issued to another client than that of the entry are not its own. */
export function ownCredential(
  stored: StoredCredential | undefined,
  { clientId }: { clientId?: string | undefined },
): StoredCredential | undefined {
  if (!stored || clientId === undefined || stored.client.clientId === clientId) return stored;
  return { ...stored, tokens: undefined };
}

export interface RegisteredClient {
  clientId: string;
  clientSecret?: string | undefined;
  /** Milliseconds since 1970; undefined: the secret does not expire. */
  secretExpiresAt?: number | undefined;
  by: "configuration" | "metadata-document" | "registration";
  /** How the client authenticates at the token endpoint. */
  authentication: ClientAuthentication;
  /** The redirect URIs that were registered. */
  redirectUris?: readonly string[] | undefined;
}

export type ClientAuthentication = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

export interface TokenSet {
  accessToken: string;
  type: "Bearer" | "DPoP";
  /** Milliseconds since 1970; undefined: unknown. */
  expiresAt?: number | undefined;
  refreshToken?: string | undefined;
  /** As granted; undefined: as asked for. */
  scope?: string | undefined;
  obtainedAt: number;
}

/** Keeps credentials, one for each server URL. */
export interface CredentialStorage {
  load(server: string): Promise<StoredCredential | undefined>;
  save(credential: StoredCredential): Promise<void>;
  /** True if there was one. */
  remove(server: string): Promise<boolean>;
  /** Runs `work` while no other process renews the credential of this server. Default: without a lock. */
  exclusively?<T>(server: string, work: () => Promise<T>): Promise<T>;
}

/** For programs that keep nothing. Several connections can share it. */
export class MemoryCredentials implements CredentialStorage {
  readonly #turns = new Turns();
  readonly #kept = new Map<string, StoredCredential>();

  load(server: string): Promise<StoredCredential | undefined> {
    return Promise.resolve(this.#kept.get(server));
  }

  save(credential: StoredCredential): Promise<void> {
    this.#kept.set(credential.server, credential);
    return Promise.resolve();
  }

  remove(server: string): Promise<boolean> {
    return Promise.resolve(this.#kept.delete(server));
  }

  exclusively<T>(_server: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work);
  }
}
