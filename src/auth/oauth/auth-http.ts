import { allowInsecureRequests, customFetch, type CustomFetchOptions } from "oauth4webapi";
import type { CancelSignal } from "../../async/cancellation.ts";
import type { SecretGuard } from "../secret-guard.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { DispatchOptions, HttpNetwork } from "../../net/http-network.ts";
import { PendingResponse } from "../../net/pending-response.ts";
import { decodeUtf8, encodeUtf8, fromBase64 } from "../../text/bytes.ts";
import { percentDecoded } from "../../text/percent-decoded.ts";
import { MASK } from "../../masking/mask-words.ts";
import { isLoopback } from "../../text/loopback.ts";

export interface AuthHttpOptions {
  /** The URL of the MCP server, whose own address decides which others may be reached. */
  server: string;
  /** Opens what the requests are sent over; which addresses it reaches depends on that of the MCP server. */
  openNetwork: (server: string) => Promise<HttpNetwork>;
  /** Checks every address before a stored secret is sent to it. */
  guard?: SecretGuard | undefined;
  /** Called for every request, for a diagnosis. Contains no secret. */
  onRequest?: ((exchange: AuthExchange) => void) | undefined;
}

/** One request to an authorization server and how it was answered. */
export interface AuthExchange {
  method: string;
  /** Without its query. */
  url: string;
  status?: number | undefined;
  error?: NexusError | undefined;
}

/** The options that every request of oauth4webapi needs. */
export interface OAuthRequestOptions {
  [customFetch]: (url: string, options: CustomFetchOptions<string, unknown>) => Promise<Response>;
  [allowInsecureRequests]: boolean;
  signal?: AbortSignal;
}

interface AuthRequest {
  method: string;
  headers?: Record<string, string>;
  body?: string | undefined;
  signal?: CancelSignal | undefined;
}

type Answer = Awaited<ReturnType<PendingResponse["answer"]>>;

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 20_000;
const MAX_REDIRECTS = 3;

/**
 * HTTP to authorization servers. The addresses come from the MCP server, so they are checked: https only, and no
 * internal address, unless the MCP server itself is on this machine or in a private network.
 */
export class AuthHttp implements AsyncDisposable {
  readonly #options: AuthHttpOptions;
  readonly #isLoopback: boolean;
  #network: Promise<HttpNetwork> | undefined;

  constructor(options: AuthHttpOptions) {
    this.#options = options;
    this.#isLoopback = isLoopback(new URL(options.server).hostname);
  }

  /** The same for addresses that come from another server, or from the configuration. It is closed separately. */
  forServer(server: string): AuthHttp {
    return new AuthHttp({ ...this.#options, server });
  }

  /** Options for a function of oauth4webapi. */
  with(signal?: AbortSignal): OAuthRequestOptions {
    return {
      [customFetch]: (url, { method, headers, body, signal: own }) =>
        this.fetch(url, { method, headers, body: bodyText(body), signal: own }),
      // Addresses are checked by fetch(): http is allowed on loopback only.
      [allowInsecureRequests]: true,
      ...(signal && { signal }),
    };
  }

  /** Redirects of a GET are followed, each address checked again. */
  async fetch(url: string, request: AuthRequest): Promise<Response> {
    let target = url;
    for (let hops = 0; ; hops++) {
      const response = await this.#send(target, request);
      const location = response.headers.get("location");
      const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
      if (!isRedirect || request.method !== "GET" || hops === MAX_REDIRECTS) return response;
      if (!URL.canParse(location, target)) return response;
      target = new URL(location, target).href;
    }
  }

  async close(): Promise<void> {
    const network = this.#network;
    this.#network = undefined;
    // A network that could not be opened is reported by the request.
    await (await network?.catch(() => undefined))?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(text: string, request: AuthRequest): Promise<Response> {
    const url = new URL(text);
    const exchange: AuthExchange = { method: request.method, url: url.origin + url.pathname };
    try {
      this.check(url);
      const network = await (this.#network ??= this.#options.openNetwork(this.#options.server));
      network.guard?.check(url);
      await this.#checkSecrets(url, request);
      const answer = await new PendingResponse({
        dispatcher: await network.dispatcher(url.origin, ""),
        deadlines: network.deadlines,
        options: dispatchOptions(url, request),
        shown: exchange.url,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal: request.signal,
        passesRedirects: true,
      }).answer();
      exchange.status = answer.status;
      return responseOf({ ...answer, body: withoutEcho(answer, request) });
    } catch (error) {
      if (error instanceof NexusError) exchange.error = error;
      throw error;
    } finally {
      this.#options.onRequest?.(exchange);
    }
  }

  /** Throws if a page that a person will open has a stored secret in its address that may not be sent there. */
  checkPage(url: URL): Promise<void> {
    return this.#checkSecrets(url, {});
  }

  async #checkSecrets(url: URL, { headers, body }: Pick<AuthRequest, "headers" | "body">): Promise<void> {
    const { guard } = this.#options;
    if (!guard) return;
    const parameters = new URLSearchParams(body ?? "");
    const sent = [
      url.pathname,
      ...url.searchParams.values(),
      ...parameters.values(),
      ...Object.values(headers ?? {}),
      ...secretsIn(headers?.["authorization"]),
    ];
    // A resource is an address, which may have a secret in its path or its query.
    await guard.check(url.origin, [...sent, ...sent.map(percentDecoded)], parameters.has("client_assertion"));
  }

  /** Throws if the address is not one that an authorization server may have. */
  check(url: URL): void {
    const isHere = isLoopback(url.hostname);
    if (isHere && !this.#isLoopback) {
      throw refused(url, "is an address of this machine, but the MCP server is not on this machine");
    }
    const mayBePlain = isHere || url.origin === new URL(this.#options.server).origin;
    if (url.protocol === "https:" || (url.protocol === "http:" && mayBePlain)) return;
    throw refused(url, "is not an https address");
  }
}

function dispatchOptions(url: URL, { method, headers, body }: AuthRequest): DispatchOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    // The methods of OAuth are among those of the dispatcher.
    method: method as DispatchOptions["method"],
    headers: { ...headers, "accept-encoding": "identity" },
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(body !== undefined && { body }),
  };
}

function bodyText(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return String(body);
  throw new NexusError("INTERNAL", "A request to an authorization server has a body that is not text");
}

/** Parameters of OAuth whose values identify nothing but a secret. */
const PUBLIC_PARAMETERS = new Set(["grant_type", "resource", "scope", "client_id", "redirect_uri", "response_type"]);
const SHORTEST_SECRET = 8;

/** Some servers repeat in an error what they were sent, and errors are shown and logged. */
function withoutEcho(answer: Answer, request: AuthRequest): Uint8Array {
  let text = decodeUtf8(answer.body);
  // Some report an error with status 200. A token that stays the same must not be masked.
  if (answer.status < 400 && !/"error"\s*:/.test(text)) return answer.body;
  const sent = [...new URLSearchParams(request.body ?? "")].filter(([name]) => !PUBLIC_PARAMETERS.has(name));
  const secrets = [...sent.map(([, value]) => value), ...secretsIn(request.headers?.["authorization"])];
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) text = text.replaceAll(secret, MASK);
  return encodeUtf8(text);
}

/** What is in an `Authorization` header; in that of Basic, also the password as it was before it was encoded. */
function secretsIn(header = ""): string[] {
  const [scheme = "", value = ""] = header.split(" ");
  if (scheme.toLowerCase() !== "basic") return [value];
  const [, encoded = ""] = decodeUtf8(fromBase64(value)).split(":");
  return [value, encoded, new URLSearchParams(`secret=${encoded}`).get("secret") ?? ""];
}

function responseOf({ status, headers, body }: Answer): Response {
  const own = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value].flat()) if (each !== undefined) own.append(name, each);
  }
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : new Uint8Array(body), { status, headers: own });
}

function refused(url: URL, problem: string): NexusError {
  // Only addresses of the web have an origin: that of javascript:… and file:… is the word null.
  const beginning = url.origin === "null" ? url.protocol : url.origin;
  return new NexusError("ADDRESS_REFUSED", `${beginning}${url.pathname} ${problem}`, {
    phase: "connect",
    likelyCause: "The MCP server names an authorization server at an address that is not safe to use.",
    hint: "Ask the operator of the MCP server to correct its authorization metadata.",
    mayHaveReached: false,
  });
}
