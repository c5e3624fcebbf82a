import { messageOf, NexusError, type ErrorDetails } from "../errors/nexus-error.ts";

export interface Attempt {
  origin: string;
  /** The proxy on the way, if there is one. */
  proxy: string | undefined;
  /** False while nothing had been written. */
  started: boolean;
}

type Account = Pick<ErrorDetails, "likelyCause" | "hint" | "snippet"> & { message: string };

/** What undici, a socket or TLS reported, as an error that says what it means for this address. */
export function networkFailure(error: unknown, attempt: Attempt): NexusError {
  if (error instanceof NexusError) return error;
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG") {
    return new NexusError("ARGUMENTS_INVALID", `This cannot be sent over HTTP: ${messageOf(error)}`, {
      cause: error,
      mayHaveReached: false,
    });
  }
  const { proxy, started } = attempt;
  const { message, ...account } = accountOf(code, error, attempt);
  return new NexusError(started ? "CONNECTION_LOST" : "CONNECTION_FAILED", message, {
    cause: error,
    phase: started ? "request" : "connect",
    ...account,
    proxy,
    mayHaveReached: started,
  });
}

function accountOf(code: string, error: unknown, attempt: Attempt): Account {
  const { origin, proxy, started } = attempt;
  // Until the tunnel stands, the proxy is what did not answer.
  if (proxy !== undefined && !started) {
    const account = accountOfProxy(code, error, proxy, origin);
    if (account) return account;
  }
  switch (code) {
    case "ECONNREFUSED":
      return {
        message: `Nothing is listening at ${origin}`,
        hint: "Start the server, or correct the host and port in its URL.",
      };
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return {
        message: `The host name of ${origin} could not be resolved`,
        hint: "Check the spelling of the host, and the network.",
      };
    case "ENETUNREACH":
    case "EHOSTUNREACH":
      return { message: `There is no way to ${origin} from here`, hint: "Check the network, a VPN, and firewalls." };
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return {
        message: `${origin} did not accept a connection in time`,
        likelyCause: "A firewall drops the packets, or the host is off.",
        hint: "Check host and port, a VPN, and whether this network needs a proxy (HTTPS_PROXY).",
      };
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return {
        message: `${origin} closed the connection before the answer was complete`,
        hint: isPlain(origin)
          ? "Look into the server's log. If it speaks TLS, its URL begins with https."
          : "Look into the server's log, and at proxies on the way.",
      };
    default:
      return (
        accountOfTls(code, origin) ??
        accountOfParser(code, origin) ?? {
          message: `${started ? "The connection to" : "Connecting to"} ${origin} failed: ${messageOf(error)}`,
        }
      );
  }
}

function accountOfProxy(code: string, error: unknown, proxy: string, origin: string): Account | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return {
        message: `The proxy ${proxy} on the way to ${origin} is not listening`,
        hint: "Start or correct the proxy (HTTP_PROXY, HTTPS_PROXY), or name the host in NO_PROXY.",
      };
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return {
        message: `The host name of the proxy ${proxy} could not be resolved`,
        hint: "Correct the proxy (HTTP_PROXY, HTTPS_PROXY), or name the server's host in NO_PROXY.",
      };
    case "UND_ERR_ABORTED": {
      // Only undici's message has the status; without it the sentence is shorter.
      const [, status] = /\((\d{3})\)/.exec(messageOf(error)) ?? [];
      return {
        message: `The proxy ${proxy} does not let through to ${origin}${status ? ` (HTTP ${status})` : ""}`,
        hint:
          status === "407"
            ? "Put the proxy's name and password into its address: http://name:password@host:port."
            : "Ask who runs the proxy, or name the server's host in NO_PROXY.",
      };
    }
    default:
      return undefined;
  }
}

/** Certificates and versions of TLS. */
function accountOfTls(code: string, origin: string): Account | undefined {
  switch (code) {
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return {
        message: `The certificate of ${origin} is not trusted (${code})`,
        likelyCause:
          code === "DEPTH_ZERO_SELF_SIGNED_CERT"
            ? "The server signed its certificate itself."
            : "A private authority signed it, perhaps that of a company's proxy, or the server leaves out a part of its chain.",
        hint: "Put the authority's certificate (PEM) into a file and name that file in NODE_EXTRA_CA_CERTS.",
      };
    case "CERT_HAS_EXPIRED":
      return {
        message: `The certificate of ${origin} has expired`,
        hint: "Have the server's operator renew it; if it is new, check this machine's clock.",
      };
    case "CERT_NOT_YET_VALID":
      return { message: `The certificate of ${origin} is not valid yet`, hint: "Check this machine's clock." };
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return {
        message: `The certificate of ${origin} is for another host name`,
        hint: "Use the name that the certificate was made for in the URL.",
      };
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return {
        message: `${origin} does not answer in TLS`,
        likelyCause: "The server speaks http, not https.",
        hint: "Write the URL with http, or the port of its https.",
        snippet: `"url": "${origin.replace(/^https:/, "http:")}/…"`,
      };
    default:
      return undefined;
  }
}

/** The bytes that came were no HTTP. */
function accountOfParser(code: string, origin: string): Account | undefined {
  if (code !== "HTTPParserError") return undefined;
  return {
    message: `${origin} answers with something that is no HTTP`,
    likelyCause: isPlain(origin) ? "The server speaks https, or another protocol altogether." : undefined,
    hint: "Check the port and the scheme in the URL.",
    snippet: isPlain(origin) ? `"url": "${origin.replace(/^http:/, "https:")}/…"` : undefined,
  };
}

function isPlain(origin: string): boolean {
  return origin.startsWith("http:");
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // undici's parser has a code for some of its errors only.
  if (error.name === "HTTPParserError") return error.name;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
