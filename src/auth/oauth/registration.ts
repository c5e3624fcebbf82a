import {
  dynamicClientRegistrationRequest,
  processDynamicClientRegistrationResponse,
  type AuthorizationServer,
} from "oauth4webapi";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { AuthHttp } from "./auth-http.ts";
import { oauthFailure } from "./oauth-failure.ts";
import type { OAuthSettings } from "./oauth-settings.ts";
import type { ClientAuthentication, RegisteredClient, StoredCredential } from "./stored-credential.ts";

interface RegistrationRequest {
  authorizationServer: AuthorizationServer;
  settings: OAuthSettings;
  /** Undefined for grants without a redirect. */
  redirectUri?: string | undefined;
  /** What is kept about this server, perhaps from another issuer. */
  stored?: StoredCredential | undefined;
  http: AuthHttp;
  now: number;
  signal?: AbortSignal | undefined;
}

/** The ways to authenticate with a secret, the best first. */
const BY_SECRET = ["client_secret_basic", "client_secret_post"] as const;

/** The way to authenticate with a secret; a server without a list accepts client_secret_basic (RFC 8414). */
export function chooseSecretMethod({
  token_endpoint_auth_methods_supported: offered,
}: Pick<AuthorizationServer, "token_endpoint_auth_methods_supported">): (typeof BY_SECRET)[number] {
  return BY_SECRET.find((method) => offered?.includes(method)) ?? "client_secret_basic";
}

/**
 * The client for an authorization server: one that was registered by hand, one that a metadata document describes, one
 * from an earlier registration at the same issuer, or a new one.
 */
export async function registerClient(request: RegistrationRequest): Promise<RegisteredClient> {
  const { authorizationServer, settings, stored } = request;
  checkIssuer(request);
  if (settings.clientId !== undefined) return configuredClient(settings.clientId, request);
  const { clientMetadataUrl } = settings;
  if (clientMetadataUrl !== undefined && authorizationServer.client_id_metadata_document_supported === true) {
    const authentication = settings.privateKey === undefined ? "none" : "private_key_jwt";
    return { clientId: clientMetadataUrl, by: "metadata-document", authentication };
  }
  if (stored?.issuer === authorizationServer.issuer && isUsable(stored.client, request)) return stored.client;
  if (authorizationServer.registration_endpoint === undefined) throw noWayToRegister(authorizationServer);
  return newClient(request);
}

/** What was made for one issuer, such as a secret or an assertion, is not shown to another that the server names. */
function checkIssuer({ authorizationServer: { issuer }, settings, stored }: RegistrationRequest): void {
  const { clientId, assertion } = settings;
  const isBound = assertion !== undefined || (clientId !== undefined && stored?.client.clientId === clientId);
  const known = settings.issuer ?? (isBound ? stored?.issuer : undefined);
  if (known === undefined || known === issuer) return;
  const problem =
    clientId === undefined
      ? `The entry is for ${known}, but the server now uses ${issuer}.`
      : `The client "${clientId}" is registered at ${known}, but the server now uses ${issuer}.`;
  throw oauthFailure("registering the client", new NexusError("AUTH_REQUIRED", problem), {
    phase: "connect",
    hint: `If you trust the new issuer, register a client there and set "clientId" and "issuer" in the entry's "oauth"; then log out and in again.`,
    mayHaveReached: false,
  });
}

function configuredClient(clientId: string, { authorizationServer, settings }: RegistrationRequest): RegisteredClient {
  const { clientSecret } = settings;
  return {
    clientId,
    clientSecret,
    by: "configuration",
    authentication: authenticationFor(authorizationServer, settings),
  };
}

function authenticationFor(
  server: AuthorizationServer,
  { clientSecret, privateKey }: OAuthSettings,
): ClientAuthentication {
  if (privateKey !== undefined) return "private_key_jwt";
  return clientSecret === undefined ? "none" : chooseSecretMethod(server);
}

/** A registration is kept for its issuer as long as its secret and its redirect address are valid. */
function isUsable(
  { by, redirectUris, secretExpiresAt = Infinity }: RegisteredClient,
  { redirectUri, now }: RegistrationRequest,
): boolean {
  if (by !== "registration" || secretExpiresAt <= now) return false;
  // Registered for a redirect or for a device code, not for both.
  return redirectUri === undefined ? redirectUris === undefined : redirectUris?.includes(redirectUri) === true;
}

async function newClient(request: RegistrationRequest): Promise<RegisteredClient> {
  const { authorizationServer, settings, redirectUri, http, signal } = request;
  const offered = authorizationServer.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  // A program on the user's machine cannot keep a secret, so none is asked for where that is possible.
  const wanted = (["none", ...BY_SECRET] as const).find((method) => offered.includes(method)) ?? "none";
  const grants = redirectUri === undefined ? ["urn:ietf:params:oauth:grant-type:device_code"] : ["authorization_code"];
  try {
    const response = await dynamicClientRegistrationRequest(
      authorizationServer,
      {
        client_name: settings.clientName ?? "Nexus",
        application_type: "native",
        grant_types: [...grants, "refresh_token"],
        // Some servers require both members also where they are empty.
        redirect_uris: redirectUri === undefined ? [] : [redirectUri],
        response_types: redirectUri === undefined ? [] : ["code"],
        // Without scopes: those of a later step-up would not be among them.
        token_endpoint_auth_method: wanted,
      },
      http.with(signal),
    );
    const registered = await processDynamicClientRegistrationResponse(await withUsualForm(response));
    const expires = registered.client_secret_expires_at;
    return {
      clientId: registered.client_id,
      clientSecret: typeof registered.client_secret === "string" ? registered.client_secret : undefined,
      secretExpiresAt: typeof expires === "number" && expires > 0 ? expires * 1_000 : undefined,
      by: "registration",
      authentication: registeredAuthentication(registered, authorizationServer),
      redirectUris: redirectUri === undefined ? undefined : [redirectUri],
    };
  } catch (error) {
    throw oauthFailure("registering the client", error, { phase: "connect", mayHaveReached: false });
  }
}

/**
 * The server may decide on another method than the one that was asked for, or say nothing about it. Without a secret the
 * client is public, whatever was asked for or decided: there is nothing to authenticate with. A decision that the
 * server's own list of methods contradicts does not count.
 */
function registeredAuthentication(
  { token_endpoint_auth_method: decided, client_secret: secret }: Readonly<Record<string, unknown>>,
  server: AuthorizationServer,
): ClientAuthentication {
  if (secret === undefined) return "none";
  const { token_endpoint_auth_methods_supported: offered } = server;
  const method = (["none", ...BY_SECRET] as const).find((each) => each === decided);
  return method !== undefined && (offered?.includes(method) ?? true) ? method : chooseSecretMethod(server);
}

/**
 * Some servers answer 200 instead of 201, write an empty secret or null for a client without one, or forget to say
 * that a secret does not expire; the library refuses all of these.
 */
async function withUsualForm(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const json = parseJson(await response.clone().text());
  if (!isRecord(json)) return response;
  const { client_secret: secret, client_secret_expires_at: expires, ...rest } = json;
  const hasSecret = secret !== undefined && secret !== null && secret !== "";
  const about = hasSecret ? { client_secret: secret, client_secret_expires_at: expires ?? 0 } : {};
  return Response.json({ ...rest, ...about }, { status: 201 });
}

function noWayToRegister({ issuer }: AuthorizationServer): NexusError {
  return oauthFailure(
    "registering the client",
    new NexusError("AUTH_REQUIRED", `${issuer} registers no clients by itself.`),
    {
      phase: "connect",
      hint: `Register a client there by hand and put its id into the entry: "oauth": { "clientId": "…" }.`,
      snippet: `"oauth": { "clientId": "…" }`,
      mayHaveReached: false,
    },
  );
}
