import type { CancelSignal } from "../async/cancellation.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { AllowedPrefixes } from "./allowed-url.ts";
import { PendingResponse } from "./pending-response.ts";
import type { Dispatcher, DispatchOptions } from "./http-network.ts";
import type { Network } from "./network.ts";

export interface GuardedRequest {
  method: DispatchOptions["method"];
  url: string;
  /** Prefixes that the URL must begin with one of. */
  allow: readonly string[] | AllowedPrefixes;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  /** From the start to the last byte of the answer. */
  timeoutMs: number;
  /** Maximum size of the answer's body. */
  maxBytes: number;
  signal?: CancelSignal | undefined;
  /** Requests with different credentials never share a connection. */
  credential?: string | undefined;
}

export interface GuardedResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

/** Headers that decide where a request goes or where it ends; callers must not set them. */
const OWN_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
  "trailer",
]);

/**
 * One request to an allowed address and its answer with any status. Redirects are not followed. Errors say whether the
 * request may have reached the server (`mayHaveReached`), and never contain its query.
 */
export function guardedRequest(network: Network, request: GuardedRequest): Promise<GuardedResponse> {
  try {
    return sent(network, request);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Throws if the request is refused. An open connection is not waited for: one promise is enough for most requests. */
function sent(network: Network, request: GuardedRequest): Promise<GuardedResponse> {
  const allow = request.allow instanceof AllowedPrefixes ? request.allow : new AllowedPrefixes(request.allow);
  const { host, origin, path, shown } = allow.get(request.url);
  if (!network.guard) throw new NexusError("INTERNAL", "A guarded request needs a network with an address guard");
  network.guard.check(host);
  const headers = sentHeaders(request.headers);
  const { credential = "", method, body, timeoutMs, maxBytes, signal } = request;
  const options: DispatchOptions = { origin, path, method, headers, headersTimeout: 0, bodyTimeout: 0 };
  if (body !== undefined) options.body = body;
  const { deadlines } = network;
  const answerBy = (dispatcher: Dispatcher) =>
    new PendingResponse({ dispatcher, deadlines, options, shown, timeoutMs, maxBytes, signal }).answer();
  const open = network.findDispatcher(origin, credential);
  return open ? answerBy(open) : network.dispatcher(origin, credential).then(answerBy);
}

/** Names and values in turn, which costs less than one more object with these members. */
function sentHeaders(given: Record<string, string>): string[] {
  const headers: string[] = [];
  // Asks for no compression, so that the size of an answer is limited by what is received.
  let encoding = "identity";
  for (const name in given) {
    if (!Object.hasOwn(given, name)) continue;
    const lower = name.toLowerCase();
    if (OWN_HEADERS.has(lower)) {
      throw new NexusError("ARGUMENTS_INVALID", `The header ${name} cannot be set`, { mayHaveReached: false });
    }
    if (lower === "accept-encoding") encoding = given[name] ?? "";
    else headers.push(name, given[name] ?? "");
  }
  headers.push("accept-encoding", encoding);
  return headers;
}
