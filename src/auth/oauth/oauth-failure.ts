import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from "oauth4webapi";
import { messageOf, NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";

/** What was being done, for people: it completes "The authorization failed at this step: …". */
type AuthStep =
  | "reading the metadata of the protected resource"
  | "reading the metadata of the authorization server"
  | "registering the client"
  | "logging in"
  | "requesting a token"
  | "exchanging the ID token at the identity provider"
  | "refreshing the token"
  | "revoking the token";

const MAX_TEXT = 300;

/** What the error codes of OAuth mean for a user of Nexus. */
const HINTS: Readonly<Record<string, string>> = {
  access_denied: "The login was refused. Log in again and allow the access, or ask an administrator for it.",
  invalid_client: `The authorization server does not accept this client. Check "clientId" and "clientSecret" of the entry's "oauth", or log out and in again to register a new client.`,
  invalid_grant: "The login is no longer valid. Log in again.",
  invalid_scope: `The authorization server does not offer these scopes. Correct "scopes" in the entry's "oauth".`,
  invalid_target: "The authorization server does not issue tokens for this MCP server. Ask its operator.",
  unauthorized_client: `The client may not use this way to log in. Set "grant" in the entry's "oauth" to one that is allowed.`,
  unsupported_grant_type: `The authorization server does not offer this way to log in. Set another "grant" in the entry's "oauth".`,
  invalid_redirect_uri: `The authorization server does not accept the redirect address. Register a client by hand and set "clientId" and "redirectUrl".`,
  invalid_client_metadata: `The authorization server does not register this client. Register one by hand and set "clientId" in the entry's "oauth".`,
  expired_token: "The code has expired. Log in again.",
  temporarily_unavailable: "Try again later.",
};

/** The error for a failed step: which one, what the authorization server answered, and what to do. */
export function oauthFailure(step: AuthStep, error: unknown, more: ErrorDetails = {}): NexusError {
  if (error instanceof NexusError) {
    if (error.code === "CANCELLED") return error;
    return new NexusError(error.code, `${failedAt(step)} ${error.message}`, {
      ...more,
      ...error.details,
      cause: error,
    });
  }
  const answered = answerOf(error);
  if (answered) {
    const { code, description, status } = answered;
    const words = `${code}${description ? `: ${description}` : ""}`;
    return new NexusError("AUTH_REQUIRED", `${failedAt(step)} The authorization server answered "${words}".`, {
      phase: "connect",
      status,
      answer: words,
      hint: HINTS[code] ?? "Ask the operator of the authorization server, or log in again.",
      mayHaveReached: false,
      ...more,
      cause: new RefusedByServer(code, words),
    });
  }
  return new NexusError("AUTH_REQUIRED", `${failedAt(step)} ${sentence(messageOf(error))}`, {
    phase: "connect",
    hint: "The authorization server does not follow OAuth here. Report it to its operator.",
    mayHaveReached: false,
    ...more,
    cause: withoutContent(error),
  });
}

/** What the authorization server answered. The errors of the library also contain codes and tokens. */
class RefusedByServer extends Error {
  override readonly name = "RefusedByServer";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

function withoutContent(error: unknown): Error {
  const cause = new Error(messageOf(error));
  if (error instanceof Error && error.stack !== undefined) cause.stack = error.stack;
  return cause;
}

/** The error code of OAuth, if the authorization server sent one. */
export function oauthErrorCode(error: unknown): string | undefined {
  return answerOf(error)?.code ?? (error instanceof NexusError ? oauthErrorCode(error.details.cause) : undefined);
}

interface Answered {
  code: string;
  description?: string | undefined;
  status?: number | undefined;
}

function answerOf(error: unknown): Answered | undefined {
  if (error instanceof RefusedByServer) return { code: error.code };
  if (error instanceof ResponseBodyError) {
    return { code: shown(error.error), description: described(error.error_description), status: error.status };
  }
  if (error instanceof AuthorizationResponseError) {
    return { code: shown(error.error), description: described(error.error_description) };
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    const parameters = error.cause[0]?.parameters;
    const code = parameters?.error ?? "invalid_client";
    return { code: shown(code), description: described(parameters?.error_description), status: error.status };
  }
  return undefined;
}

function described(text: string | undefined): string | undefined {
  return text === undefined ? undefined : shown(text);
}

/** Text of a stranger: short, and with visible control characters. */
function shown(text: string): string {
  return visible(shorten(text, MAX_TEXT));
}

function failedAt(step: AuthStep): string {
  return `The authorization failed while ${step}.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
