import {
  processDiscoveryResponse,
  processResourceDiscoveryResponse,
  type AuthorizationServer,
  type ResourceServer,
} from "oauth4webapi";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { AuthHttp } from "./auth-http.ts";
import type { Challenge } from "./challenge.ts";
import { oauthFailure } from "./oauth-failure.ts";

/** What is known about the authorization to one MCP server. */
export interface AuthorizationDiscovery {
  /** The `resource` of every request (RFC 8707), exactly as the server writes it. */
  resource: string;
  authorizationServer: AuthorizationServer;
  /** The scopes that the protected resource names. */
  scopes: readonly string[] | undefined;
  /** Whether the server accepts only tokens that are bound to a key. */
  requiresProof: boolean;
  /** How the authorization server was found. */
  found: "resource-metadata" | "origin-metadata" | "default-endpoints";
}

interface DiscoveryRequest {
  /** The URL of the MCP server. */
  server: string;
  challenge?: Challenge | undefined;
  /** Issuers that are preferred if the server accepts several, the best first. */
  preferred?: readonly string[] | undefined;
  http: AuthHttp;
  signal?: AbortSignal | undefined;
}

const RESOURCE_STEP = "reading the metadata of the protected resource";
const SERVER_STEP = "reading the metadata of the authorization server";

/** The lists in metadata that are used. */
const LISTS = [
  "authorization_servers",
  "scopes_supported",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
] as const;

const ASK_OPERATOR = "Ask the operator of the MCP server to correct its authorization metadata, or try again later.";

/** Finds the authorization server of an MCP server. */
export async function discover(request: DiscoveryRequest): Promise<AuthorizationDiscovery> {
  const { resource, address } = await findResource(request);
  const issuers = resource?.authorization_servers ?? [];
  if (!resource || issuers.length === 0) {
    if (resource) checkResource(resource, request.server, address);
    return discoverByOrigin(request, resource);
  }
  const issuer = (request.preferred ?? []).find((each) => issuers.includes(each)) ?? issuers[0] ?? "";
  const authorizationServer = await findAuthorizationServer(issuer, request);
  if (!authorizationServer) {
    throw oauthFailure(SERVER_STEP, new NexusError("AUTH_REQUIRED", `${issuer} has no metadata.`), {
      phase: "connect",
      hint: "Ask the operator of the MCP server which authorization server it uses.",
      mayHaveReached: false,
    });
  }
  // Only now, so that a diagnosis has shown both documents. Nothing but reading has happened so far.
  checkResource(resource, request.server, address);
  return {
    resource: resource.resource,
    authorizationServer,
    scopes: resource.scopes_supported,
    requiresProof: resource.dpop_bound_access_tokens_required === true,
    found: "resource-metadata",
  };
}

/** The metadata of an authorization server; undefined if it has none at any of the known addresses. */
export async function findAuthorizationServer(
  issuer: string,
  { http, signal }: Pick<DiscoveryRequest, "http" | "signal">,
): Promise<AuthorizationServer | undefined> {
  if (!URL.canParse(issuer)) {
    throw oauthFailure(
      SERVER_STEP,
      new NexusError("AUTH_REQUIRED", `The issuer "${visible(shorten(issuer, 200))}" is not a URL.`),
      {
        phase: "connect",
        hint: ASK_OPERATOR,
        mayHaveReached: false,
      },
    );
  }
  for (const address of metadataAddresses(new URL(issuer))) {
    const response = await fetchMetadata(address, { http, signal }, SERVER_STEP);
    if (!response) continue;
    try {
      // The issuer must be exactly the one that was asked for (RFC 8414, section 3.3).
      return withoutWrongLists(await processDiscoveryResponse(new URL(issuer), response));
    } catch (error) {
      throw oauthFailure(SERVER_STEP, error, {
        hint: `The metadata at ${address} belongs to another issuer than ${issuer}. Ask the operator of the authorization server.`,
        url: address,
      });
    }
  }
  return undefined;
}

interface FoundResource {
  resource?: ResourceServer;
  address: string;
}

async function findResource({ server, challenge, http, signal }: DiscoveryRequest): Promise<FoundResource> {
  const named = challenge?.resourceMetadata;
  for (const address of named === undefined ? resourceAddresses(new URL(server)) : [named]) {
    const response = await fetchMetadata(address, { http, signal }, RESOURCE_STEP);
    if (response) return { resource: await readResource(response, server, address), address };
  }
  if (named === undefined) return { address: server };
  throw oauthFailure(RESOURCE_STEP, new NexusError("AUTH_REQUIRED", `There is no metadata at ${named}.`), {
    phase: "connect",
    url: named,
    hint: "The server names this address in its answer. Ask its operator.",
    mayHaveReached: false,
  });
}

/** The document as it is; whether it is about this server is checked later. */
async function readResource(response: Response, server: string, address: string): Promise<ResourceServer> {
  const document = parseJson(await response.clone().text());
  const written = isRecord(document) ? document["resource"] : undefined;
  const expected = typeof written === "string" && URL.canParse(written) ? written : server;
  try {
    return withoutWrongLists(await processResourceDiscoveryResponse(new URL(expected), response));
  } catch (error) {
    throw oauthFailure(RESOURCE_STEP, error, { url: address, hint: ASK_OPERATOR });
  }
}

/** A token is never requested for a resource that another server has written. */
function checkResource({ resource }: ResourceServer, server: string, address: string): void {
  if (covers(resource, server)) return;
  const problem = `The metadata at ${address} is about ${visible(shorten(resource, 200))}, not about ${server}.`;
  throw oauthFailure(RESOURCE_STEP, new NexusError("AUTH_REQUIRED", problem), {
    phase: "connect",
    url: address,
    hint: "A token for another resource is not requested. Ask the operator of the MCP server.",
    mayHaveReached: false,
  });
}

/** The library checks no lists. One that is not a list of strings says nothing. */
function withoutWrongLists<Metadata extends ResourceServer | AuthorizationServer>(metadata: Metadata): Metadata {
  const right = { ...metadata };
  for (const name of LISTS) {
    const list = metadata[name];
    if (!Array.isArray(list) || !list.every((each) => typeof each === "string")) delete right[name];
  }
  return right;
}

/** Whether a resource contains the server: the same origin, and its path or a parent of it. */
function covers(resource: string, server: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [whole, part] = [new URL(resource), new URL(server)];
  const parent = whole.pathname.endsWith("/") ? whole.pathname : `${whole.pathname}/`;
  if (whole.origin !== part.origin || whole.hash !== "") return false;
  return whole.pathname === part.pathname || `${part.pathname}/`.startsWith(parent);
}

/** Servers of 2025-03-26 are their own authorization servers; they need no metadata. */
async function discoverByOrigin(
  request: DiscoveryRequest,
  resource: ResourceServer | undefined,
): Promise<AuthorizationDiscovery> {
  const { origin } = new URL(request.server);
  const known = await findAuthorizationServer(origin, request);
  return {
    resource: resource?.resource ?? canonical(request.server),
    authorizationServer: known ?? defaultEndpoints(origin),
    scopes: resource?.scopes_supported ?? known?.scopes_supported,
    requiresProof: resource?.dpop_bound_access_tokens_required === true,
    found: known ? "origin-metadata" : "default-endpoints",
  };
}

/** Those of 2025-03-26. */
export function defaultEndpoints(origin: string): AuthorizationServer {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ["S256"],
  };
}

/** The server's URI without a fragment and without a slash at its end. */
function canonical(server: string): string {
  const url = new URL(server);
  return `${url.origin}${url.pathname.replace(/\/$/, "")}${url.search}`;
}

function resourceAddresses({ origin, pathname }: URL): string[] {
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return pathname === "/" ? [root] : [`${root}${pathname.replace(/\/$/, "")}`, root];
}

function metadataAddresses({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = ["oauth-authorization-server", "openid-configuration"];
  if (path === "") return [`${origin}/.well-known/${oauth}`, `${origin}/.well-known/${openid}`];
  return [
    `${origin}/.well-known/${oauth}${path}`,
    `${origin}/.well-known/${openid}${path}`,
    `${origin}${path}/.well-known/${openid}`,
  ];
}

/** The answer if it is a document; undefined if there is none. Web pages with status 200 are not documents. */
async function fetchMetadata(
  address: string,
  { http, signal }: Pick<DiscoveryRequest, "http" | "signal">,
  step: typeof RESOURCE_STEP | typeof SERVER_STEP,
): Promise<Response | undefined> {
  try {
    const response = await http.fetch(address, { method: "GET", headers: { accept: "application/json" }, signal });
    const { status } = response;
    if (status === 200) return (await isJson(response)) ? response : undefined;
    if (status < 500) return undefined;
    throw new NexusError("HTTP_STATUS", `${address} answered with HTTP ${status}.`, {
      status,
      hint: "The error is on the server's side. Try again later.",
    });
  } catch (error) {
    throw oauthFailure(step, error, { phase: "connect", url: address, hint: ASK_OPERATOR, mayHaveReached: false });
  }
}

async function isJson(response: Response): Promise<boolean> {
  return /^\s*\{/.test(await response.clone().text());
}
