import { Deadlines } from "../async/deadlines.ts";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { networkFailure } from "./network-failure.ts";
import type { DispatchController, Dispatcher, DispatchHandler, DispatchOptions, HttpNetwork } from "./http-network.ts";

/** The part of `fetch` that is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Names that runtimes other than Node have for failures of the network. */
const OTHER_CODES = new Map([
  ["ConnectionRefused", "ECONNREFUSED"],
  ["ConnectionClosed", "ECONNRESET"],
  ["ConnectionReset", "ECONNRESET"],
]);
/** Failures before anything was sent. */
const BEFORE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Outgoing HTTP over `fetch`, for browsers, workers and other runtimes. Sockets, proxies and certificates are theirs. */
export class FetchNetwork implements HttpNetwork {
  readonly guard = undefined;
  readonly deadlines = new Deadlines();
  readonly #dispatcher: Dispatcher;
  readonly #open = new Set<AbortController>();

  constructor(fetch: Fetch = (url, init) => globalThis.fetch(url, init)) {
    this.#dispatcher = {
      dispatch: (options, handler) => {
        void this.#exchange(fetch, options, handler);
        return true;
      },
      destroy: () => this.close(),
    };
  }

  dispatcher(): Promise<Dispatcher> {
    return Promise.resolve(this.#dispatcher);
  }

  proxyFor(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    for (const request of this.#open) request.abort(new Error("closed"));
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #exchange(fetch: Fetch, options: DispatchOptions, handler: DispatchHandler): Promise<void> {
    const stop = new AbortController();
    const controller: DispatchController = { abort: (reason) => stop.abort(reason) };
    this.#open.add(stop);
    try {
      handler.onRequestStart(controller);
      const response = await send(fetch, options, stop.signal);
      handler.onResponseStart(controller, response.status, headersOf(response));
      const reader = response.body?.getReader();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        handler.onResponseData(controller, part.value);
      }
      handler.onResponseEnd(controller);
    } catch (error) {
      handler.onResponseError(controller, error instanceof Error ? error : new Error(messageOf(error)));
    } finally {
      this.#open.delete(stop);
    }
  }
}

async function send(fetch: Fetch, options: DispatchOptions, signal: AbortSignal): Promise<Response> {
  const { origin, path, method, headers, body } = options;
  const request: RequestInit = { method, headers: asPairs(headers), redirect: "manual", signal };
  if (body !== undefined) request.body = typeof body === "string" ? body : new Uint8Array(body);
  let response: Response;
  try {
    response = await fetch(origin + path, request);
  } catch (error) {
    throw signal.aborted ? error : failure(error, origin);
  }
  // To follow it, a browser would send headers and body to an address that was not chosen.
  if (response.type !== "opaqueredirect") return response;
  throw new NexusError("REDIRECT_REFUSED", `${origin} redirects, and a browser does not say where to`, {
    hint: "Use the final address as the server's URL.",
    mayHaveReached: false,
  });
}

function asPairs(headers: DispatchOptions["headers"]): [string, string][] {
  if (!Array.isArray(headers)) return Object.entries(headers);
  return headers.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, headers[at + 1] ?? ""]] : []));
}

/** What describes the bytes on the wire is left out: `fetch` has decoded them. */
function headersOf({ headers }: Response): Record<string, string> {
  const { "content-encoding": _encoding, "content-length": _length, ...others } = Object.fromEntries(headers);
  return others;
}

/** Runtimes say more or less about the cause; browsers do not, so that pages cannot explore a network. */
function failure(error: unknown, origin: string): NexusError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const named = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const code = OTHER_CODES.get(named) ?? named;
  if (code !== "") {
    const known = Object.assign(new Error(messageOf(cause)), { code, cause });
    return networkFailure(known, { origin, proxy: undefined, started: !BEFORE.has(code), hasAnswered: false });
  }
  return new NexusError("CONNECTION_FAILED", `The request to ${origin} failed: ${messageOf(error)}`, {
    cause: error,
    phase: "connect",
    likelyCause: "Nothing is listening there, or the server does not allow pages of this origin (CORS).",
    hint:
      "Start the server, or let it allow this origin with the methods GET, POST and DELETE, all headers that the page asks " +
      "for, and Mcp-Session-Id among those that it exposes. At a Nexus gateway: nexus serve --allow-origin ORIGIN.",
    mayHaveReached: true,
  });
}
