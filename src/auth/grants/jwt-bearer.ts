import { genericTokenEndpointRequest, processGenericTokenEndpointResponse } from "oauth4webapi";
import type { CancelSignal } from "../../async/cancellation.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { oauthErrorCode, oauthFailure } from "../oauth/oauth-failure.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import type { GrantRequest } from "./grant-request.ts";
import { grantParameters, requestTokens } from "./token-request.ts";

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const REFUSED_HINT =
  "The authorization server does not accept the assertion. Check that it has not expired, that its issuer is known there, and that it is issued for this authorization server.";

/** A token for a workload, which proves what it is with a JWT of its platform (RFC 7523). */
export async function jwtBearer(request: GrantRequest, signal?: CancelSignal): Promise<TokenSet> {
  return requestWithAssertion(request, await assertionOf(request), signal);
}

/** A token for a signed assertion of another issuer. A refusal is final: the same assertion would be refused again. */
export async function requestWithAssertion(
  request: GrantRequest,
  assertion: string,
  signal?: CancelSignal,
): Promise<TokenSet> {
  const { server } = request;
  try {
    return await requestTokens(
      request,
      async ({ client, authentication, options }) => {
        const parameters = grantParameters(request);
        parameters.set("assertion", assertion);
        const response = await genericTokenEndpointRequest(
          server,
          client,
          authentication,
          GRANT_TYPE,
          parameters,
          options,
        );
        return processGenericTokenEndpointResponse(server, client, response);
      },
      signal,
    );
  } catch (error) {
    const isRefused = oauthErrorCode(error) === "invalid_grant";
    throw oauthFailure("requesting a token", error, isRefused ? { hint: REFUSED_HINT } : {});
  }
}

async function assertionOf({ settings: { assertion }, server }: GrantRequest): Promise<string> {
  if (!assertion) {
    throw new NexusError("CONFIG_INVALID", 'The grant "jwt_bearer" needs an assertion, but there is none', {
      phase: "config",
      hint: 'Set "assertion" in the server\'s oauth settings: a JWT of your platform, issued for the authorization server.',
    });
  }
  if (typeof assertion === "string") return assertion;
  try {
    return await assertion(server.issuer);
  } catch (error) {
    throw new NexusError("AUTH_REQUIRED", `No assertion for ${server.issuer} could be obtained: ${messageOf(error)}`, {
      phase: "connect",
      hint: "The assertion comes from the program that uses Nexus; correct it there.",
      mayHaveReached: false,
      cause: error,
    });
  }
}
