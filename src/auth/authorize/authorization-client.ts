import {
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  type AuthorizationServer,
} from "oauth4webapi";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { needsPerson, type OAuthGrant } from "../../transport/entry-form.ts";
import { authorizationCode } from "../grants/authorization-code.ts";
import { clientAuthentication, oauthClient } from "../grants/client-authentication.ts";
import { clientCredentials } from "../grants/client-credentials.ts";
import { deviceCode } from "../grants/device-code.ts";
import { enterprise } from "../grants/enterprise.ts";
import type { GrantRequest } from "../grants/grant-request.ts";
import { jwtBearer } from "../grants/jwt-bearer.ts";
import { requestTokens } from "../grants/token-request.ts";
import { AuthHttp, type AuthHttpOptions } from "../oauth/auth-http.ts";
import { challengeOf, scopesIn, type Challenge } from "../oauth/challenge.ts";
import {
  defaultEndpoints,
  discover,
  findAuthorizationServer,
  type AuthorizationDiscovery,
} from "../oauth/discovery.ts";
import type { LoginHandler, LoginRedirect } from "../oauth/login-handler.ts";
import { oauthFailure } from "../oauth/oauth-failure.ts";
import type { OAuthSettings } from "../oauth/oauth-settings.ts";
import { ProofKey } from "../oauth/proof-key.ts";
import { registerClient } from "../oauth/registration.ts";
import type { RegisteredClient, StoredCredential, TokenSet } from "../oauth/stored-credential.ts";

export interface AuthorizationClientOptions {
  /** The URL of the MCP server. */
  server: string;
  settings: OAuthSettings;
  login?: LoginHandler | undefined;
  http: Omit<AuthHttpOptions, "server">;
  now: () => number;
}

/** What a new credential is for. */
export interface CredentialRequest {
  discovery: AuthorizationDiscovery;
  challenge?: Challenge | undefined;
  /** What is kept about this server, perhaps from another issuer. */
  stored?: StoredCredential | undefined;
}

/** For a server that does not mention OAuth. */
export const API_KEY_HINT = `If the server expects an API key, add it to the entry's "headers".`;

/** What a server answers to a request without a credential. */
interface ProbeResult {
  status: number;
  /** What it requires; undefined if it refused nothing. */
  challenge: Challenge | undefined;
}

/** Talks to the authorization server of one MCP server. Keeps nothing: each request begins with what is stored. */
export class AuthorizationClient {
  readonly #options: AuthorizationClientOptions;
  readonly #grant: OAuthGrant;
  /** By issuer, for refreshes. A refusal of the MCP server reads it again. */
  readonly #metadata = new Map<string, AuthorizationServer>();

  constructor(options: AuthorizationClientOptions) {
    this.#options = options;
    this.#grant = options.settings.grant ?? "authorization_code";
  }

  /** Whether a person is needed for a new credential. */
  get needsPerson(): boolean {
    return needsPerson(this.#grant);
  }

  get canObtain(): boolean {
    return !this.needsPerson || this.#options.login !== undefined;
  }

  /** Asks the server without a credential what it requires. */
  async probe(signal?: CancelSignal): Promise<ProbeResult> {
    const { server } = this.#options;
    return this.#online(async (http) => {
      const response = await http.fetch(server, {
        method: "POST",
        headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
        signal,
      });
      const { status, headers } = response;
      const isRefused = status === 401 || status === 403;
      return { status, challenge: isRefused ? await challengeOf(Object.fromEntries(headers)) : undefined };
    });
  }

  async discover(
    { challenge, stored }: Pick<CredentialRequest, "challenge" | "stored">,
    signal?: CancelSignal,
  ): Promise<AuthorizationDiscovery> {
    const { server, settings } = this.#options;
    const preferred = [settings.issuer, stored?.issuer].filter((issuer) => issuer !== undefined);
    const found = await this.#online((http) =>
      discover({ server, challenge, preferred, http, signal: signal && abortSignalOf(signal) }),
    );
    this.#metadata.set(found.authorizationServer.issuer, found.authorizationServer);
    return found;
  }

  /** The same credential with new tokens. */
  async refresh(credential: StoredCredential, tokens: TokenSet & { refreshToken: string }): Promise<StoredCredential> {
    return this.#online(async (http) => {
      const server = await this.#metadataOf(credential, http);
      const { client, resource } = credential;
      const proofKey = credential.proofKey && (await ProofKey.import(credential.proofKey)).pair;
      const request = this.#request({ server, client, resource, scopes: undefined, http, proofKey });
      return { ...credential, tokens: await refreshTokens(request, tokens) };
    });
  }

  /** A new credential, for which a person may have to log in. */
  async obtain(wanted: CredentialRequest, signal?: CancelSignal): Promise<StoredCredential> {
    return this.#online(async (http) => {
      if (this.#grant !== "authorization_code") return this.#grantTo(wanted, { http, signal });
      const redirect = await this.#openRedirect(wanted);
      await using _ = redirect;
      return await this.#grantTo(wanted, { http, signal, redirect });
    });
  }

  /** Revokes the tokens where the authorization server can; false where it cannot. */
  async revoke(credential: StoredCredential, signal?: CancelSignal): Promise<boolean> {
    const { tokens, client } = credential;
    if (!tokens) return false;
    return this.#online(async (http) => {
      const server = await this.#metadataOf(credential, http);
      if (server.revocation_endpoint === undefined) return false;
      const { settings } = this.#options;
      const authentication = await clientAuthentication({ client, settings });
      const options = http.with(signal && abortSignalOf(signal));
      // Revoking a refresh token ends its access tokens; not all servers do so.
      const each = [tokens.refreshToken, tokens.accessToken].filter((token) => token !== undefined);
      try {
        for (const token of each) {
          const response = await revocationRequest(server, oauthClient({ client }), authentication, token, options);
          await processRevocationResponse(response);
        }
      } catch (error) {
        throw oauthFailure("revoking the token", error);
      }
      return true;
    });
  }

  async #grantTo(
    { discovery, challenge, stored }: CredentialRequest,
    { http, signal, redirect }: { http: AuthHttp; signal: CancelSignal | undefined; redirect?: LoginRedirect },
  ): Promise<StoredCredential> {
    const { settings, now, server: url } = this.#options;
    const { authorizationServer: server, resource } = discovery;
    const own = stored?.issuer === server.issuer ? stored : undefined;
    const scopes = this.#scopesFor({ discovery, challenge, stored: own });
    const client = await registerClient({
      authorizationServer: server,
      settings,
      redirectUri: redirect?.uri,
      stored,
      http,
      now: now(),
      signal: signal && abortSignalOf(signal),
    }).catch((error: unknown) => {
      // Addresses that no metadata names were only a guess.
      const isGuess = discovery.found === "default-endpoints" && settings.clientId === undefined;
      throw isGuess && error instanceof NexusError && error.code === "AUTH_REQUIRED"
        ? offersNoLogin(url, error)
        : error;
    });
    const wantsProof = settings.dpop ?? (discovery.requiresProof || challenge?.wantsProof === true);
    const proof = wantsProof ? await proofKeyOf(own) : undefined;
    const request = this.#request({ server, client, resource, scopes, http, proofKey: proof?.pair });
    const tokens = await this.#requestTokens(request, { redirect, signal });
    return {
      server: url,
      issuer: server.issuer,
      resource,
      client,
      tokens,
      scopes: scopes ?? [],
      ...(this.needsPerson && { loginName: crypto.randomUUID() }),
      ...(proof && { proofKey: await proof.export() }),
    };
  }

  #requestTokens(
    request: GrantRequest,
    { redirect, signal }: { redirect: LoginRedirect | undefined; signal: CancelSignal | undefined },
  ): Promise<TokenSet> {
    switch (this.#grant) {
      case "authorization_code":
        return redirect ? authorizationCode(request, redirect, signal) : Promise.reject(noPerson());
      case "device_code":
        return deviceCode(request, this.#options.login ?? {}, signal);
      case "client_credentials":
        return clientCredentials(request, signal);
      case "jwt_bearer":
        return jwtBearer(request, signal);
      case "enterprise":
        return enterprise(request, signal);
    }
  }

  async #openRedirect({ stored }: CredentialRequest): Promise<LoginRedirect> {
    const { login, settings } = this.#options;
    if (!login?.openRedirect) throw noPerson();
    const { redirectUrl, callbackPort } = settings;
    return login.openRedirect({ redirectUrl, callbackPort, registered: stored?.client.redirectUris ?? [] });
  }

  /** The challenge counts most; earlier scopes are kept, so that a step-up loses nothing. */
  #scopesFor({ discovery, challenge, stored }: CredentialRequest): readonly string[] | undefined {
    const { settings } = this.#options;
    const asked = settings.scopes ?? challenge?.scopes ?? discovery.scopes ?? [];
    const isStepUp = challenge?.error === "insufficient_scope";
    const before = isStepUp ? [...(stored?.scopes ?? []), ...(scopesIn(stored?.tokens?.scope) ?? [])] : [];
    const further = isStepUp ? (challenge.scopes ?? []) : [];
    const offered = discovery.authorizationServer.scopes_supported ?? [];
    const offline = this.needsPerson && offered.includes("offline_access") ? ["offline_access"] : [];
    const scopes = new Set([...before, ...asked, ...further, ...offline]);
    return scopes.size > 0 ? [...scopes] : undefined;
  }

  #request(parts: {
    server: AuthorizationServer;
    client: RegisteredClient;
    resource: string;
    scopes: readonly string[] | undefined;
    http: AuthHttp;
    proofKey: GrantRequest["proofKey"];
  }): GrantRequest {
    const { settings, now } = this.#options;
    return { ...parts, settings, now };
  }

  async #metadataOf({ issuer }: StoredCredential, http: AuthHttp): Promise<AuthorizationServer> {
    const read = async () => (await findAuthorizationServer(issuer, { http })) ?? this.#withoutMetadata(issuer);
    const known = this.#metadata.get(issuer) ?? (await read());
    if (!known) {
      throw oauthFailure(
        "reading the metadata of the authorization server",
        new NexusError("CONNECTION_FAILED", `${issuer} has no metadata.`),
        { phase: "connect", hint: "Try again later, or log in again.", mayHaveReached: false },
      );
    }
    this.#metadata.set(issuer, known);
    return known;
  }

  /** Servers of 2025-03-26 are their own authorization servers, at known addresses. */
  #withoutMetadata(issuer: string): AuthorizationServer | undefined {
    const { origin } = new URL(this.#options.server);
    return issuer === origin ? defaultEndpoints(origin) : undefined;
  }

  async #online<T>(run: (http: AuthHttp) => Promise<T>): Promise<T> {
    const { server, http: options } = this.#options;
    await using http = new AuthHttp({ ...options, server });
    return await run(http);
  }
}

/** New tokens for a refresh token. An answer without a refresh token keeps the old one. */
async function refreshTokens(request: GrantRequest, old: TokenSet & { refreshToken: string }): Promise<TokenSet> {
  const { server } = request;
  try {
    const tokens = await requestTokens(request, async ({ client, authentication, options }) => {
      const response = await refreshTokenGrantRequest(server, client, authentication, old.refreshToken, options);
      return processRefreshTokenResponse(server, client, response);
    });
    return { refreshToken: old.refreshToken, ...(old.scope !== undefined && { scope: old.scope }), ...tokens };
  } catch (error) {
    throw oauthFailure("refreshing the token", error);
  }
}

async function proofKeyOf(stored: StoredCredential | undefined): Promise<ProofKey> {
  return stored?.proofKey ? ProofKey.import(stored.proofKey) : ProofKey.create();
}

function offersNoLogin(server: string, cause: NexusError): NexusError {
  return new NexusError("AUTH_REQUIRED", `${server} requires credentials, but no OAuth login was found there`, {
    phase: "connect",
    hint: API_KEY_HINT,
    snippet: `"headers": { "Authorization": "Bearer \${TOKEN}" }`,
    cause,
    mayHaveReached: false,
  });
}

function noPerson(): NexusError {
  return new NexusError("AUTH_REQUIRED", "The server requires a login, and no person can be asked", {
    phase: "connect",
    mayHaveReached: false,
  });
}
