import { messageOf, NexusError, type ErrorDetails } from "../errors/nexus-error.ts";

interface FailedRequest {
  origin: string;
  /** The proxy that was used, if any. */
  proxy: string | undefined;
  /** False if nothing was sent. */
  started: boolean;
  /** Whether the server has answered over HTTP before, so that the scheme of the URL is right. */
  hasAnswered: boolean;
}

type Account = Pick<ErrorDetails, "likelyCause" | "hint" | "snippet"> & { message: string };

/** An error of undici, a socket or TLS as a NexusError with its meaning for this address. */
export function networkFailure(error: unknown, request: FailedRequest): NexusError {
  if (error instanceof NexusError) return error;
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG") {
    return new NexusError("ARGUMENTS_INVALID", `This cannot be sent over HTTP: ${messageOf(error)}`, {
      cause: error,
      mayHaveReached: false,
    });
  }
  const { proxy, started } = request;
  const { message, ...account } = accountOf(code, error, request);
  return new NexusError(started ? "CONNECTION_LOST" : "CONNECTION_FAILED", message, {
    cause: error,
    phase: started ? "request" : "connect",
    ...account,
    proxy,
    mayHaveReached: started,
  });
}

function accountOf(code: string, error: unknown, request: FailedRequest): Account {
  const { origin, proxy, started, hasAnswered } = request;
  // Until the tunnel is open, it is the proxy that did not answer.
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
        hint: "Check the spelling of the host name, and the network.",
      };
    case "ENETUNREACH":
    case "EHOSTUNREACH":
      return {
        message: `${origin} cannot be reached from this network`,
        hint: "Check the network, the VPN and the firewall.",
      };
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return {
        message: `${origin} did not accept a connection in time`,
        likelyCause: "A firewall may drop the packets, or the host may be off.",
        hint: "Check the host, the port, the VPN, and whether this network needs a proxy (HTTPS_PROXY).",
      };
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return {
        message: `${origin} closed the connection before the answer was complete`,
        hint: hintForCut(origin, hasAnswered),
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

function hintForCut(origin: string, hasAnswered: boolean): string {
  if (!isPlain(origin)) return "Check the server's log, and the proxies between here and the server.";
  return `Check the server's log.${hasAnswered ? "" : " If the server uses TLS, its URL must start with https."}`;
}

function accountOfProxy(code: string, error: unknown, proxy: string, origin: string): Account | undefined {
  switch (code) {
    case "ECONNREFUSED":
      return {
        message: `The proxy ${proxy} on the way to ${origin} is not listening`,
        hint: "Start the proxy, correct HTTP_PROXY or HTTPS_PROXY, or add the host to NO_PROXY.",
      };
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return {
        message: `The host name of the proxy ${proxy} could not be resolved`,
        hint: "Correct HTTP_PROXY or HTTPS_PROXY, or add the server's host to NO_PROXY.",
      };
    case "UND_ERR_ABORTED": {
      // Only undici's message contains the status; without it the message is shorter.
      const [, status] = /\((\d{3})\)/.exec(messageOf(error)) ?? [];
      return {
        message: `The proxy ${proxy} refused to connect to ${origin}${status ? ` (HTTP ${status})` : ""}`,
        hint:
          status === "407"
            ? "Add the user name and the password to the proxy's address: http://name:password@host:port."
            : "Ask the proxy's operator, or add the server's host to NO_PROXY.",
      };
    }
    default:
      return undefined;
  }
}

/** Errors of certificates and TLS versions. */
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
            : "A private authority signed it, perhaps a company proxy, or the server sends an incomplete certificate chain.",
        hint: "Save the authority's certificate as a PEM file and set NODE_EXTRA_CA_CERTS to its path.",
      };
    case "CERT_HAS_EXPIRED":
      return {
        message: `The certificate of ${origin} has expired`,
        hint: "Ask the server's operator to renew it. If it is new, check this machine's clock.",
      };
    case "CERT_NOT_YET_VALID":
      return { message: `The certificate of ${origin} is not valid yet`, hint: "Check this machine's clock." };
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return {
        message: `The certificate of ${origin} is for another host name`,
        hint: "Use the certificate's host name in the URL.",
      };
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return {
        message: `${origin} does not use TLS`,
        likelyCause: "The server uses http, not https.",
        hint: "Use http in the URL, or the server's https port.",
        snippet: `"url": "${origin.replace(/^https:/, "http:")}/…"`,
      };
    default:
      return undefined;
  }
}

/** The received bytes are not HTTP. */
function accountOfParser(code: string, origin: string): Account | undefined {
  if (code !== "HTTPParserError") return undefined;
  return {
    message: `${origin} sent an answer that is not HTTP`,
    likelyCause: isPlain(origin) ? "The server uses https or another protocol." : undefined,
    hint: "Check the port and the scheme in the URL.",
    snippet: isPlain(origin) ? `"url": "${origin.replace(/^http:/, "https:")}/…"` : undefined,
  };
}

function isPlain(origin: string): boolean {
  return origin.startsWith("http:");
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // Only some errors of undici's parser have a code.
  if (error.name === "HTTPParserError") return error.name;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
