import type { TokenEndpointResponse } from "oauth4webapi";
import { NexusError } from "../../errors/nexus-error.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";

/** The last time that a date can have. */
const LAST_TIME = 8.64e15;

/** The tokens of an answer that was requested at `now`. */
export function tokenSetOf(response: TokenEndpointResponse, now: number): TokenSet {
  const { access_token, token_type, expires_in, refresh_token, scope } = response;
  return {
    accessToken: checked(access_token),
    type: typeOf(token_type),
    obtainedAt: now,
    // 0 would mean a new token for each request; servers that write it mean that they do not say.
    ...(expires_in && { expiresAt: Math.min(now + expires_in * 1000, LAST_TIME) }),
    ...(refresh_token && { refreshToken: refresh_token }),
    ...(scope !== undefined && { scope }),
  };
}

/** It becomes part of a header (RFC 6750, section 2.1, leaves even fewer characters). */
function checked(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new NexusError("PROTOCOL_VIOLATION", "The token contains characters that cannot be sent in a header", {
    likelyCause: "The authorization server answered with a token that has spaces, line breaks or letters like é in it.",
  });
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
