import {
  deviceAuthorizationRequest,
  type DeviceAuthorizationResponse,
  deviceCodeGrantRequest,
  OperationProcessingError,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  ResponseBodyError,
} from "oauth4webapi";
import type { CancelSignal } from "../../async/cancellation.ts";
import { pause } from "../../async/event-loop.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isLoopback } from "../../text/loopback.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { LoginHandler } from "../oauth/login-handler.ts";
import { oauthFailure } from "../oauth/oauth-failure.ts";
import type { TokenSet } from "../oauth/stored-credential.ts";
import { clientAuthentication, oauthClient } from "./client-authentication.ts";
import type { GrantRequest } from "./grant-request.ts";
import { tokenHttp } from "./token-http.ts";
import { grantParameters, requestTokens } from "./token-request.ts";

const DEFAULT_INTERVAL_S = 5;
/** RFC 8628, section 3.5: what `slow_down` adds. */
const SLOWER_S = 5;
const LONGEST_INTERVAL_S = 60;
/** A server that asks for less is not asked without a pause; a timer cannot wait for more than 24 days. */
const [SHORTEST_INTERVAL_S, LONGEST_WAIT_S] = [1, 3_600];

/** A token after a login on any device: the person enters a code there, and this client asks until it is done. */
export async function deviceCode(
  request: GrantRequest,
  handler: LoginHandler,
  signal?: CancelSignal,
): Promise<TokenSet> {
  if (!handler.showDeviceCode) {
    throw new NexusError("AUTH_REQUIRED", "A device login needs a person who can be shown a code", {
      phase: "connect",
      hint: 'Pass a login handler with "showDeviceCode".',
      mayHaveReached: false,
    });
  }
  const now = request.now ?? Date.now;
  const code = await requestCode(request, signal);
  const expiresAt = now() + code.expires_in * 1000;
  handler.showDeviceCode({
    verificationUri: code.verification_uri,
    verificationUriComplete: code.verification_uri_complete,
    userCode: code.user_code,
    expiresAt,
  });
  let intervalS = Math.min(Math.max(code.interval ?? DEFAULT_INTERVAL_S, SHORTEST_INTERVAL_S), LONGEST_WAIT_S);
  while (now() + intervalS * 1000 < expiresAt) {
    await wait(request, intervalS * 1000, signal);
    const outcome = await poll(request, code.device_code, signal);
    if (typeof outcome !== "string") return outcome;
    if (outcome === "slower") intervalS += SLOWER_S;
    // The RFC asks for longer pauses after a failure of the network.
    if (outcome === "unreachable") intervalS = Math.min(intervalS * 2, Math.max(LONGEST_INTERVAL_S, intervalS));
  }
  throw oauthFailure("logging in", new NexusError("TIMEOUT", "The code has expired before it was entered."), {
    phase: "connect",
    hint: "Log in again.",
    mayHaveReached: false,
  });
}

async function requestCode(
  request: GrantRequest,
  signal: CancelSignal | undefined,
): Promise<DeviceAuthorizationResponse> {
  const { server, http } = request;
  const client = oauthClient(request);
  if (!server.device_authorization_endpoint) {
    const problem = `${server.issuer} does not offer logins with a device code.`;
    throw oauthFailure("logging in", new NexusError("AUTH_REQUIRED", problem), {
      phase: "connect",
      hint: "Log in with a browser instead.",
      mayHaveReached: false,
    });
  }
  const authentication = await clientAuthentication(request);
  try {
    const response = await deviceAuthorizationRequest(
      server,
      client,
      authentication,
      grantParameters(request),
      tokenHttp(http, signal),
    );
    const code = await processDeviceAuthorizationResponse(server, client, response);
    const { verification_uri_complete, ...rest } = code;
    checkPage(code.verification_uri);
    return verification_uri_complete && isPage(verification_uri_complete) ? code : rest;
  } catch (error) {
    throw oauthFailure("logging in", error);
  }
}

type Outcome = TokenSet | "pending" | "slower" | "unreachable";

async function poll(request: GrantRequest, code: string, signal: CancelSignal | undefined): Promise<Outcome> {
  const { server } = request;
  try {
    return await requestTokens(
      request,
      async ({ client, authentication, options }) => {
        const response = await deviceCodeGrantRequest(server, client, authentication, code, options);
        return processDeviceCodeResponse(server, client, response);
      },
      signal,
    );
  } catch (error) {
    const pending = outcomeOf(error);
    if (pending) return pending;
    throw oauthFailure("logging in", error);
  }
}

/** Undefined: the login has failed. */
function outcomeOf(error: unknown): Exclude<Outcome, TokenSet> | undefined {
  if (error instanceof ResponseBodyError) {
    if (error.error === "authorization_pending") return "pending";
    return error.error === "slow_down" ? "slower" : undefined;
  }
  if (error instanceof NexusError) {
    return ["CONNECTION_FAILED", "CONNECTION_LOST", "TIMEOUT"].includes(error.code) ? "unreachable" : undefined;
  }
  const answer = error instanceof OperationProcessingError ? error.cause : undefined;
  return answer instanceof Response && answer.status >= 500 ? "unreachable" : undefined;
}

/** Resolves after the pause, or rejects with the reason of the signal at once. */
async function wait(request: GrantRequest, ms: number, signal: CancelSignal | undefined): Promise<void> {
  try {
    await (request.wait ?? pause)(ms, signal);
  } catch (error) {
    throw new NexusError("CANCELLED", "The login was cancelled", { cause: error, mayHaveReached: false });
  }
}

/** The page is shown to a person, and perhaps opened: it must be a web page. */
function checkPage(page: string): void {
  if (isPage(page)) return;
  throw new NexusError(
    "ADDRESS_REFUSED",
    `The page for the code, ${visible(shorten(page, 200))}, is not an https page.`,
  );
}

function isPage(page: string): boolean {
  if (!URL.canParse(page)) return false;
  const { protocol, hostname } = new URL(page);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
