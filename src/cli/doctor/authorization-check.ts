import { challengeOf } from "../../auth/oauth/challenge.ts";
import { credentialSummary } from "../../auth/oauth/credential-files.ts";
import { authNetwork } from "../../auth/oauth/auth-network.ts";
import { AuthHttp, type AuthExchange } from "../../auth/oauth/auth-http.ts";
import { discover, type AuthorizationDiscovery } from "../../auth/oauth/discovery.ts";
import { ownCredential, type CredentialStorage, type StoredCredential } from "../../auth/oauth/stored-credential.ts";
import type { NetworkTrust } from "../../client/connect/connect-entry.ts";
import { networkOptions } from "../../client/connect/http-transport-for.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { hasAuthorization } from "../../transport/http-sender.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { loginStateText } from "../login/login-words.ts";
import { toFailedFinding, type Finding } from "./check.ts";
import type { HttpHead } from "./http-check.ts";

interface AuthorizationContext {
  surroundings: Surroundings;
  trust: NetworkTrust;
  storage: CredentialStorage;
  signal: AbortSignal;
}

/** What was found on the way to a token: each step with its answer. */
interface AuthorizationSteps {
  lines: string[];
  /** How to fix the step that failed; undefined if none did. */
  hint?: string | undefined;
}

/** The refusal of a server, with the steps. Where one of them fails, a login would fail there as well. */
export function refusedFinding(error: NexusError, { lines, hint }: AuthorizationSteps): Finding {
  const { evidence, advice = [], ...finding } = toFailedFinding(error, lines);
  return { ...finding, evidence: [...new Set(evidence)], advice: hint === undefined ? advice : [hint] };
}

/** What is kept for a server, in one line; undefined if the entry has credentials of its own. */
export async function keptLogin(reach: HttpReach, storage: CredentialStorage): Promise<string | undefined> {
  if (hasAuthorization(reach) || reach.oauth === false) return undefined;
  const kept = await storage.load(reach.url).catch(asNexusError);
  if (kept === undefined) return undefined;
  if ("code" in kept) return kept.message;
  const own = ownCredential(kept, reach.oauth ?? {});
  return own && loginText(own);
}

/** Follows the way from a refusal to the authorization server, as a login does. Nothing is registered or asked for. */
export async function authorizationSteps(
  reach: HttpReach,
  head: HttpHead | undefined,
  { surroundings, trust, storage, signal }: AuthorizationContext,
): Promise<AuthorizationSteps | undefined> {
  if (head?.status !== 401 || hasAuthorization(reach) || reach.oauth === false) return undefined;
  const lines = [`requires: ${String(head.headers["www-authenticate"] ?? "credentials, without saying which")}`];
  const kept = await storage.load(reach.url).catch(asNexusError);
  // One that cannot be read counts as none, as it does for a login.
  const stored = kept && "code" in kept ? undefined : kept;
  const settings = reach.oauth ?? {};
  await using http = new AuthHttp({
    server: reach.url,
    openNetwork: authNetwork({ ...networkOptions(trust, surroundings), publicOnly: trust.publicOnly }),
    onRequest: (exchange) => lines.push(exchangeText(exchange)),
  });
  const login = `login: ${(await keptLogin(reach, storage)) ?? "none is kept"}`;
  try {
    const challenge = await challengeOf(head.headers);
    const preferred = [settings.issuer, stored?.issuer].filter((issuer) => issuer !== undefined);
    const found = await discover({ server: reach.url, challenge, preferred, http, signal });
    lines.push(...discoveryLines(found), clientText(found, reach, stored), login);
    return { lines };
  } catch (error) {
    if (signal.aborted) throw error;
    const failed = asNexusError(error);
    return { lines: [...lines, failed.message, login], hint: failed.hint };
  }
}

function exchangeText({ method, url, status, error }: AuthExchange): string {
  return `${method} ${url}: ${status === undefined ? (error?.message ?? "no answer") : `HTTP ${status}`}`;
}

const FOUND: Record<AuthorizationDiscovery["found"], string> = {
  "resource-metadata": "named by the metadata of the server",
  "origin-metadata": "the origin of the server, as in 2025-03-26",
  "default-endpoints": "no metadata was found; the default addresses of 2025-03-26 are used",
};

function discoveryLines({
  authorizationServer,
  resource,
  scopes,
  requiresProof,
  found,
}: AuthorizationDiscovery): string[] {
  const { issuer, code_challenge_methods_supported: methods } = authorizationServer;
  return [
    `issuer: ${issuer} (${FOUND[found]})`,
    `resource: ${resource}`,
    ...(scopes ? [`scopes: ${scopes.join(" ")}`] : []),
    ...(methods?.includes("S256") ? [] : ["PKCE with S256: not offered, so that a login in the browser is refused"]),
    ...(requiresProof ? ["tokens are bound to a key (DPoP)"] : []),
  ];
}

/** How a login would identify this program. */
function clientText(
  { authorizationServer }: AuthorizationDiscovery,
  { oauth }: HttpReach,
  stored?: StoredCredential,
): string {
  const { clientId, clientMetadataUrl } = oauth || {};
  const { issuer, registration_endpoint: registers } = authorizationServer;
  if (clientId !== undefined) return `client: "${clientId}" of the entry`;
  if (clientMetadataUrl !== undefined && authorizationServer.client_id_metadata_document_supported === true) {
    return `client: the metadata document ${clientMetadataUrl}`;
  }
  if (stored?.issuer === issuer) return `client: "${stored.client.clientId}", registered before`;
  if (registers !== undefined) return "client: is registered by the login (dynamic registration)";
  return `client: none. ${issuer} registers no clients by itself: set "clientId" in the entry's "oauth"`;
}

function loginText(stored: StoredCredential): string {
  const summary = credentialSummary(stored);
  const scopes = summary.scopes.length > 0 ? `, scopes ${summary.scopes.join(" ")}` : "";
  return `${loginStateText(summary)}${scopes}, issuer ${summary.issuer}`;
}
