import {
  type AuthorizationServer,
  type ClientAuth,
  genericTokenEndpointRequest,
  None,
  processGenericTokenEndpointResponse,
} from "oauth4webapi";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { AuthHttp } from "../oauth/auth-http.ts";
import { findAuthorizationServer } from "../oauth/discovery.ts";
import { oauthErrorCode, oauthFailure } from "../oauth/oauth-failure.ts";
import type { IdentityProvider } from "../oauth/oauth-settings.ts";
import { chooseSecretMethod } from "../oauth/registration.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import { secretAuthentication } from "./client-authentication.ts";
import type { GrantRequest } from "./grant-request.ts";
import { requestWithAssertion } from "./jwt-bearer.ts";
import { tokenHttp } from "./token-http.ts";
import { grantParameters } from "./token-request.ts";

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const STEP = "exchanging the ID token at the identity provider";

/**
 * A token for a person who is logged in at the identity provider of their company: the provider exchanges its ID token
 * for an assertion that is meant for one authorization server (ID-JAG), which issues the token.
 */
export async function enterprise(request: GrantRequest, signal?: CancelSignal): Promise<TokenSet> {
  const { identityProvider } = request.settings;
  if (!identityProvider) {
    throw new NexusError("CONFIG_INVALID", 'The grant "enterprise" needs an identity provider, but there is none', {
      phase: "config",
      hint: 'Set "identityProvider" in the server\'s oauth settings: issuer, clientId and idToken.',
    });
  }
  const idToken = await idTokenOf(identityProvider);
  // The provider is from the configuration, so its own address decides what may be reached, not the MCP server's.
  await using http = request.http.forServer(addressOf(identityProvider));
  const assertion = await exchangeIdToken({ request, identityProvider, idToken, http, signal });
  return requestWithAssertion(request, assertion, signal);
}

function addressOf({ issuer, tokenEndpoint = issuer }: IdentityProvider): string {
  if (URL.canParse(tokenEndpoint)) return tokenEndpoint;
  throw new NexusError("CONFIG_INVALID", `"${tokenEndpoint}" is not the URL of an identity provider`, {
    phase: "config",
    hint: 'Correct "issuer" and "tokenEndpoint" of "identityProvider" in the server\'s oauth settings.',
  });
}

interface Exchange {
  request: GrantRequest;
  identityProvider: IdentityProvider;
  idToken: string;
  http: AuthHttp;
  signal: CancelSignal | undefined;
}

/** The token exchange of RFC 8693, with the parameters of the identity assertion authorization grant. */
async function exchangeIdToken({ request, identityProvider, idToken, http, signal }: Exchange): Promise<string> {
  const provider = await providerMetadata(identityProvider, http, signal);
  const client = { client_id: identityProvider.clientId };
  const parameters = grantParameters(request);
  parameters.set("requested_token_type", ID_JAG);
  parameters.set("audience", request.server.issuer);
  parameters.set("subject_token", idToken);
  parameters.set("subject_token_type", ID_TOKEN);
  try {
    const options = tokenHttp(http, signal);
    const authentication = providerAuthentication(identityProvider, provider);
    const response = await genericTokenEndpointRequest(
      provider,
      client,
      authentication,
      GRANT_TYPE,
      parameters,
      options,
    );
    const answer = await processGenericTokenEndpointResponse(provider, client, response, {
      // "N_A": the assertion is not an access token.
      recognizedTokenTypes: { n_a: () => {} },
    });
    if (answer["issued_token_type"] === ID_JAG) return answer.access_token;
    throw new NexusError(
      "PROTOCOL_VIOLATION",
      `${provider.issuer} answered with another type of token than ${ID_JAG}.`,
    );
  } catch (error) {
    const isRefused = oauthErrorCode(error) === "invalid_grant";
    const hint = "The identity provider does not accept the ID token. Log in there again and pass a new one.";
    throw oauthFailure(STEP, error, isRefused ? { hint } : {});
  }
}

async function providerMetadata(
  { issuer, tokenEndpoint }: IdentityProvider,
  http: AuthHttp,
  signal: CancelSignal | undefined,
): Promise<AuthorizationServer> {
  if (tokenEndpoint) return { issuer, token_endpoint: tokenEndpoint };
  const found = await findAuthorizationServer(issuer, { http, signal: signal && abortSignalOf(signal) });
  if (found) return found;
  throw oauthFailure(STEP, new NexusError("AUTH_REQUIRED", `The identity provider ${issuer} has no metadata.`), {
    hint: 'Check "issuer" of "identityProvider", or set its "tokenEndpoint".',
  });
}

function providerAuthentication({ clientSecret }: IdentityProvider, provider: AuthorizationServer): ClientAuth {
  return clientSecret ? secretAuthentication(chooseSecretMethod(provider), clientSecret) : None();
}

async function idTokenOf({ idToken, issuer }: IdentityProvider): Promise<string> {
  if (typeof idToken === "string") return idToken;
  try {
    return await idToken();
  } catch (error) {
    throw new NexusError("AUTH_REQUIRED", `No ID token of ${issuer} could be obtained: ${messageOf(error)}`, {
      phase: "connect",
      hint: "The ID token comes from the program that uses Nexus; correct it there.",
      mayHaveReached: false,
      cause: error,
    });
  }
}
