import type { TokenEndpointResponse } from "oauth4webapi";
import { NexusError } from "../../errors/nexus-error.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";

/** The tokens of an answer that was requested at `now`. */
export function tokenSetOf(response: TokenEndpointResponse, now: number): TokenSet {
  const { access_token, token_type, expires_in, refresh_token, scope } = response;
  return {
    accessToken: access_token,
    type: typeOf(token_type),
    obtainedAt: now,
    ...(expires_in !== undefined && { expiresAt: now + expires_in * 1000 }),
    ...(refresh_token && { refreshToken: refresh_token }),
    ...(scope !== undefined && { scope }),
  };
}

function typeOf(type: string): TokenSet["type"] {
  switch (type.toLowerCase()) {
    case "bearer":
      return "Bearer";
    case "dpop":
      return "DPoP";
    default:
      throw new NexusError("PROTOCOL_VIOLATION", `Tokens of the type "${visible(shorten(type, 40))}" cannot be used`, {
        likelyCause: "The authorization server answered with a token that is neither Bearer nor DPoP.",
      });
  }
}
