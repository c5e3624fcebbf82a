import type { OAuthOptions } from "../../auth/oauth/oauth-options.ts";
import { checkOptions, wrongOption, type OptionNames } from "../../errors/check-options.ts";
import { isRecord } from "../../json/is-record.ts";
import { FetchNetwork, type Fetch } from "../../net/fetch-network.ts";
import { toHex } from "../../text/bytes.ts";
import type { CredentialSource } from "../../transport/credential-source.ts";
import { HttpTransport } from "../../transport/http.ts";
import { SseTransport } from "../../transport/sse.ts";
import { isTransport, type Transport } from "../../transport/transport.ts";
import { Client } from "../client.ts";
import { checkCapabilities } from "../conversation/input.ts";
import { CLIENT_OPTIONS, type ClientOptions } from "../client-settings.ts";

/** A server that is reached over HTTP. */
export interface WebServerEntry {
  /** The address of its MCP endpoint. */
  url: string | URL;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** `sse` for a server of 2024-11-05; default: found out. */
  type?: "http" | "sse" | undefined;
}

export interface WebConnectOptions extends Omit<ClientOptions, "hidden" | "probeTimeoutMs"> {
  /** Maximum size of a message from the server; default: 10 MB. */
  maxMessageBytes?: number | undefined;
  /**
   * Authorizes the requests: with OAuth, or with a source of the program. Loaded when it is used. Not used where the headers
   * have an `Authorization`.
   */
  auth?: OAuthOptions | CredentialSource | undefined;
  /** Sends the requests; default: the `fetch` of the runtime. */
  fetch?: Fetch | undefined;
}

const ENTRY: OptionNames<WebServerEntry> = { url: true, headers: true, type: true };
const { hidden: _hidden, probeTimeoutMs: _probe, ...SHARED } = CLIENT_OPTIONS;
const OPTIONS: OptionNames<WebConnectOptions> = { ...SHARED, maxMessageBytes: true, auth: true, fetch: true };

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** Connecting includes the login, and a person needs time for it. */
const LOGIN_MS = 5 * 60_000;

/** Connects over HTTP with `fetch`: in browsers, workers, Deno, Bun and Node. Detects the revision of the server. */
export async function connect(server: WebServerEntry | Transport, options: WebConnectOptions = {}): Promise<Client> {
  checkOptions("connect", options, OPTIONS);
  if (options.input) checkCapabilities(options.input);
  const { maxMessageBytes = MAX_MESSAGE_BYTES, auth, fetch, ...settings } = options;
  if (isTransport(server)) return Client.open(server, settings);
  const url = addressOf(server);
  requireUsable(server, options);
  const network = new FetchNetwork(fetch);
  const authorized = auth && !("findHeaders" in auth) ? await oauthFor(url, auth, network, settings) : undefined;
  const Reach = server.type === "sse" ? SseTransport : HttpTransport;
  const transport = new Reach({
    url,
    headers: { ...server.headers },
    credentials: authorized?.credentials ?? (auth as CredentialSource | undefined),
    hidden: authorized?.hidden,
    network,
    // Without a digest at hand, users are kept apart by never being the same.
    principalOf: () => toHex(crypto.getRandomValues(new Uint8Array(16))),
    maxMessageBytes,
    release: () => network.close(),
  });
  const connectTimeoutMs = settings.connectTimeoutMs ?? (authorized?.needsPerson ? LOGIN_MS : undefined);
  return Client.open(transport, {
    ...settings,
    server: settings.server ?? new URL(url).host,
    connectTimeoutMs,
    hidden: authorized?.hidden,
  });
}

function addressOf(server: WebServerEntry): string {
  checkOptions("the server of connect", server, ENTRY);
  const { url, type } = server;
  if (type !== undefined && type !== "http" && type !== "sse") {
    throw wrongOption(`${JSON.stringify(type)} is not a type of server`, `Use "http" or "sse", or leave it out.`);
  }
  if (url instanceof URL) return url.href;
  if (typeof url === "string") return resolved(url);
  throw wrongOption(
    "The server of connect has no url",
    `Pass the address: connect({ url: "https://example.com/mcp" }).`,
  );
}

/** What would be left out without a word, or blamed on the network. */
function requireUsable({ headers = {} }: WebServerEntry, { auth, fetch }: WebConnectOptions): void {
  if (!isRecord(headers) || headers instanceof Headers)
    throw wrongOption("The headers of connect are not a plain object", 'Write headers: { "X-Api-Version": "2" }.');
  if (auth !== undefined && !isRecord(auth))
    throw wrongOption(
      "The option auth of connect is not an object",
      "Write auth: { login }, or leave it out for a server that needs none.",
    );
  if (fetch !== undefined && typeof fetch !== "function")
    throw wrongOption("The option fetch of connect is not a function", "Leave it out to use that of the runtime.");
}

/** In a page, an address may be relative to it. */
function resolved(url: string): string {
  const { location } = globalThis as { location?: unknown };
  const base = isRecord(location) && typeof location["href"] === "string" ? location["href"] : undefined;
  return URL.canParse(url, base) ? new URL(url, base).href : url;
}

async function oauthFor(url: string, auth: OAuthOptions, network: FetchNetwork, { logger }: ClientOptions) {
  const { openWebOAuth } = await import("./web-oauth.ts");
  return openWebOAuth(url, auth, { network, logger });
}
