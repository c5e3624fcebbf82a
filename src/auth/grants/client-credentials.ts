import { clientCredentialsGrantRequest, processClientCredentialsResponse } from "oauth4webapi";
import type { CancelSignal } from "../../async/cancellation.ts";
import { oauthFailure } from "../oauth/oauth-failure.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import type { GrantRequest } from "./grant-request.ts";
import { grantParameters, requestTokens } from "./token-request.ts";

/** A token for the client itself, without a person. */
export async function clientCredentials(request: GrantRequest, signal?: CancelSignal): Promise<TokenSet> {
  const { server } = request;
  try {
    return await requestTokens(
      request,
      async ({ client, authentication, options }) => {
        const parameters = grantParameters(request);
        const response = await clientCredentialsGrantRequest(server, client, authentication, parameters, options);
        return processClientCredentialsResponse(server, client, response);
      },
      signal,
    );
  } catch (error) {
    throw oauthFailure("requesting a token", error);
  }
}
