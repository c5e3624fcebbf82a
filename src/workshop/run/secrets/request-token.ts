import {
  allowInsecureRequests,
  type AuthorizationServer,
  clientCredentialsGrantRequest,
  customFetch,
  None,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
} from "oauth4webapi";
import { secretAuthentication } from "../../../auth/grants/client-authentication.ts";
import { tokenSetOf } from "../../../auth/grants/token-set.ts";
import { repairedAnswer } from "../../../auth/grants/token-http.ts";
import { oauthErrorCode, oauthFailure } from "../../../auth/oauth/oauth-failure.ts";
import type { TokenSet } from "../../../auth/oauth/stored-credential.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import type { TokenGrant } from "./upstream-tokens.ts";

/** Sends a form to the token endpoint, through the network of the API. */
type PostForm = (
  url: string,
  headers: Record<string, string>,
  body: string,
) => Promise<{ status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: Uint8Array }>;

interface RequestTokenOptions {
  post: PostForm;
  now: () => number;
  /** The title of the API, for messages. */
  title: string;
}

/** Requests an access token for the upstream. Errors contain no secret, and say that the tool's request was not sent. */
export async function requestToken(
  grant: TokenGrant,
  refreshToken: string | undefined,
  { post, now, title }: RequestTokenOptions,
): Promise<TokenSet> {
  const { spec, url, clientId, clientSecret } = grant;
  const server: AuthorizationServer = { issuer: new URL(url).origin, token_endpoint: url };
  const client = { client_id: clientId };
  const method = spec.client === "post" ? "client_secret_post" : "client_secret_basic";
  const authentication = clientSecret === undefined ? None() : secretAuthentication(method, clientSecret);
  const parameters = new URLSearchParams({
    ...(spec.scope && { scope: spec.scope.join(" ") }),
    ...(spec.audience !== undefined && { audience: spec.audience }),
  });
  const options = {
    // The address is checked by the network of the API; plain http is possible only for a replacement on this machine.
    [allowInsecureRequests]: true,
    [customFetch]: async (target: string, request: { headers: Record<string, string>; body?: unknown }) =>
      withoutIdentity(await repairedAnswer(responseOf(await post(target, request.headers, String(request.body))))),
  };
  const requestedAt = now();
  try {
    if (refreshToken === undefined) {
      const response = await clientCredentialsGrantRequest(server, client, authentication, parameters, options);
      return tokenSetOf(await processClientCredentialsResponse(server, client, response), requestedAt);
    }
    const more = { ...options, additionalParameters: parameters };
    const response = await refreshTokenGrantRequest(server, client, authentication, refreshToken, more);
    return tokenSetOf(await processRefreshTokenResponse(server, client, response), requestedAt);
  } catch (error) {
    throw toFailure(error, grant, title);
  }
}

function toFailure(error: unknown, { url, secrets, refresh }: TokenGrant, title: string): NexusError {
  const { code, message, details } = oauthFailure("requesting a token", error);
  const { origin, pathname } = new URL(url);
  const answered = details.answer === undefined ? message : `it answered "${details.answer}"`;
  const set = (names: readonly string[]) => names.map((name) => `nexus secrets set ${name}`).join(", ");
  const hints: Readonly<Record<string, string>> = {
    invalid_client: `It does not accept the client. The operator of this server has to run: ${set(secrets)}`,
    unauthorized_client: "The client may not use this grant. The operator of this server has to get the permission.",
    invalid_grant: `The refresh token is no longer valid. The operator of this server has to run: ${set(refresh ? [refresh.name] : secrets)}`,
    invalid_scope: "The author of the tool file has to correct oauth.scope.",
    unsupported_grant_type: "The author of the tool file has to correct oauth.grant.",
  };
  const hint = hints[oauthErrorCode(error) ?? ""] ?? "Try again later, or tell the operator of this server.";
  return new NexusError(
    code,
    `No access token for ${title} from ${origin}${pathname}, so nothing was sent: ${answered.replace(/\.$/, "")}`,
    { hint, mayHaveReached: false, cause: details.cause },
  );
}

/** An ID token is not used for anything, and need not be one of this issuer. */
async function withoutIdentity(response: Response): Promise<Response> {
  const text = await response.text();
  const { status, headers } = response;
  let body = text;
  try {
    const { id_token: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    body = JSON.stringify(rest);
  } catch {
    // The library reports what is not JSON.
  }
  return new Response(body, { status, headers });
}

function responseOf({ status, headers, body }: Awaited<ReturnType<PostForm>>): Response {
  const own = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value].flat()) if (each !== undefined && name !== "content-length") own.append(name, each);
  }
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.from(body), { status, headers: own });
}
