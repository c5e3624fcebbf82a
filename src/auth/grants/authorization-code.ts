import {
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from "oauth4webapi";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { LoginRedirect } from "../oauth/login-handler.ts";
import { oauthFailure } from "../oauth/oauth-failure.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import { oauthClient } from "./client-authentication.ts";
import type { GrantRequest } from "./grant-request.ts";
import { requestTokens } from "./token-request.ts";

/** Lets a person log in at the authorization server, and exchanges the code for tokens (PKCE with S256). */
export async function authorizationCode(
  request: GrantRequest,
  redirect: LoginRedirect,
  signal?: CancelSignal,
): Promise<TokenSet> {
  const { server, client } = request;
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const page = loginPage(request, redirect, { state, challenge: await calculatePKCECodeChallenge(verifier) });
  await request.http.checkPage(page);
  let answer: URLSearchParams;
  try {
    // Checks `iss` before anything else of the answer (RFC 9207), then `state`.
    answer = validateAuthResponse(
      server,
      oauthClient({ client }),
      await unlessAborted(redirect.visit(page, signal && abortSignalOf(signal)), signal),
      state,
    );
  } catch (error) {
    throw oauthFailure("logging in", error);
  }
  try {
    return await requestTokens(
      request,
      async ({ client: as, authentication, options }) => {
        const response = await authorizationCodeGrantRequest(
          server,
          as,
          authentication,
          answer,
          redirect.uri,
          verifier,
          options,
        );
        return processAuthorizationCodeResponse(server, as, response);
      },
      signal,
    );
  } catch (error) {
    throw oauthFailure("requesting a token", error);
  }
}

function loginPage(
  { server, client, resource, scopes, http }: GrantRequest,
  redirect: LoginRedirect,
  { state, challenge }: { state: string; challenge: string },
): URL {
  // Without this list, the server may ignore the challenge, and a stolen code would be enough for a token.
  if (server.code_challenge_methods_supported?.includes("S256") !== true) {
    throw unusable(`${server.issuer} does not offer PKCE with S256, which protects the login.`);
  }
  const endpoint = server.authorization_endpoint;
  if (endpoint === undefined || !URL.canParse(endpoint)) {
    throw unusable(`${server.issuer} names no page for the login.`);
  }
  const page = new URL(endpoint);
  http.check(page);
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirect.uri,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state,
    resource,
    ...(scopes?.length && { scope: scopes.join(" ") }),
    // OpenID Connect gives a refresh token only after the person was asked.
    ...(scopes?.includes("offline_access") && { prompt: "consent" }),
  };
  for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
  return page;
}

function unusable(message: string): NexusError {
  return oauthFailure("logging in", new NexusError("AUTH_REQUIRED", message), {
    phase: "connect",
    hint: "Ask the operator of the authorization server.",
    mayHaveReached: false,
  });
}
