import {
  type Client,
  type ClientAuth,
  DPoP,
  type DPoPHandle,
  isDPoPNonceError,
  type TokenEndpointResponse,
} from "oauth4webapi";
import type { CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { OAuthRequestOptions } from "../oauth/auth-http.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import { clientAuthentication, oauthClient } from "./client-authentication.ts";
import type { GrantRequest } from "./grant-request.ts";
import { tokenHttp } from "./token-http.ts";
import { tokenSetOf } from "./token-set.ts";

/** The arguments that are the same in the token request of every grant. */
interface TokenRequest {
  client: Client;
  authentication: ClientAuth;
  options: TokenRequestOptions;
}

interface TokenRequestOptions extends OAuthRequestOptions {
  DPoP?: DPoPHandle;
  /** `resource`, which is in every request (RFC 8707). */
  additionalParameters: Record<string, string>;
}

/**
 * Requests tokens: `send` sends one request of oauth4webapi and checks its answer. It is called a second time when the
 * server asks for a nonce in the proof.
 */
export async function requestTokens(
  request: GrantRequest,
  send: (parts: TokenRequest) => Promise<TokenEndpointResponse>,
  signal?: CancelSignal,
): Promise<TokenSet> {
  const client = oauthClient(request);
  const parts: TokenRequest = {
    client,
    authentication: await clientAuthentication(request),
    options: {
      ...tokenHttp(request.http, signal),
      ...(request.proofKey && { DPoP: DPoP(client, request.proofKey) }),
      additionalParameters: { resource: request.resource },
    },
  };
  // Counted from the request on: a token never seems to be valid for longer than it is.
  const now = (request.now ?? Date.now)();
  const response = await send(parts).catch((error: unknown) => {
    // The handle has read the nonce from the answer.
    if (request.proofKey && isDPoPNonceError(error)) return send(parts);
    throw error;
  });
  const tokens = tokenSetOf(response, now);
  if (tokens.type === "DPoP" && !request.proofKey) {
    throw new NexusError(
      "PROTOCOL_VIOLATION",
      "The token is bound to a key, but the request contained no proof of one",
    );
  }
  return tokens;
}

/** `resource`, and `scope` where there is one, for grants that take their parameters as a whole. */
export function grantParameters({ resource, scopes }: Pick<GrantRequest, "resource" | "scopes">): URLSearchParams {
  return new URLSearchParams({ resource, ...(scopes?.length && { scope: scopes.join(" ") }) });
}
