import type { CredentialSummary } from "../../auth/oauth/credential-files.ts";
import { maskUrl } from "../../masking/mask-words.ts";

export type LoginState = "valid" | "renewable" | "expired" | "registered";

/** What a kept login is worth: `renewable` has expired, and is renewed at the next use. */
export function loginStateOf({ hasToken, expiresAt, canRefresh }: CredentialSummary, now = Date.now()): LoginState {
  if (!hasToken) return "registered";
  if (expiresAt === undefined || expiresAt > now) return "valid";
  return canRefresh ? "renewable" : "expired";
}

/** For people: `valid for 59 min, renewed automatically`. */
export function loginStateText(summary: CredentialSummary): string {
  const now = Date.now();
  const { expiresAt, canRefresh } = summary;
  const renewed = canRefresh ? ", renewed automatically" : "";
  switch (loginStateOf(summary, now)) {
    case "registered":
      return "not logged in; only the client is registered";
    case "expired":
      return "expired, log in again";
    case "renewable":
      return "expired, renewed at the next use";
    case "valid":
      return expiresAt === undefined ? `valid${renewed}` : `valid for ${leftText(expiresAt - now)}${renewed}`;
  }
}

export function loginForPrograms(summary: CredentialSummary): Record<string, unknown> {
  const { server, issuer, clientId, scopes, expiresAt, canRefresh } = summary;
  return {
    url: maskUrl(server),
    issuer,
    clientId,
    scopes,
    state: loginStateOf(summary),
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    canRefresh,
  };
}

function leftText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
