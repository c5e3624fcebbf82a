import { processRefreshTokenResponse, refreshTokenGrantRequest } from "oauth4webapi";
import { oauthFailure } from "../oauth/oauth-failure.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import type { GrantRequest } from "./grant-request.ts";
import { requestTokens } from "./token-request.ts";

/** New tokens for a refresh token. An answer without a refresh token keeps the old one. */
export async function refreshToken(request: GrantRequest, old: TokenSet & { refreshToken: string }): Promise<TokenSet> {
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
