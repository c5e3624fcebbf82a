import type { NetworkTrust } from "../../client/connect/connect-entry.ts";
import { networkFor } from "../../client/connect/http-transport-for.ts";
import type { Message } from "../../protocol/json-rpc.ts";
import { modernHeaders, modernMeta } from "../../protocol/modern.ts";
import { LATEST } from "../../protocol/revisions.ts";
import { VERSION } from "../../protocol/version.ts";
import { sha256 } from "../../text/digest.ts";
import { HttpSender, parseUrl } from "../../transport/http-sender.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { ResponseHeaders, Sending } from "../../transport/transport.ts";
import { ok, type Finding } from "./check.ts";

/** The first part of a server's answer to one request. */
export interface HttpHead {
  /** Undefined if it was accepted. */
  status: number | undefined;
  headers: ResponseHeaders;
}

const MAX_BYTES = 1024 * 1024;

/** Sends one request as a client does and reads status and headers; undefined if there is no answer. */
export async function readHead(
  reach: HttpReach,
  { surroundings, trust }: { surroundings: Surroundings; trust: NetworkTrust },
  signal: AbortSignal,
): Promise<HttpHead | undefined> {
  await using network = networkFor(trust, surroundings);
  const method = "server/discover";
  const clientInfo = { name: "nexus-mcp", version: VERSION };
  const params = { _meta: modernMeta({ version: LATEST, clientInfo, capabilities: {} }) };
  const message: Message = { jsonrpc: "2.0", id: "nexus-doctor", method, params };
  const headers = modernHeaders(LATEST, method, params);
  let sending: Sending | undefined;
  try {
    const options = {
      url: reach.url,
      headers: reach.headers,
      network,
      principalOf: sha256,
      maxMessageBytes: MAX_BYTES,
    };
    const sender = await HttpSender.open(parseUrl(reach.url), options, { message() {}, discarded() {} });
    return await new Promise<HttpHead | undefined>((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
      const delivery = {
        onHead: (found: ResponseHeaders) => resolve({ status: undefined, headers: found }),
        onEnd: (end: { kind: string; status?: number; headers?: ResponseHeaders }) =>
          resolve(end.kind === "refused" ? { status: end.status, headers: end.headers ?? {} } : undefined),
      };
      sending =
        reach.kind === "sse"
          ? sender.start({ method: "GET", delivery })
          : sender.start({ method: "POST", message, delivery: { ...delivery, headers } });
    });
  } catch {
    // The client will report the same failure.
    return undefined;
  } finally {
    sending?.abandon();
  }
}

export function httpFinding(head: HttpHead | undefined): Finding {
  if (!head) return ok("answers");
  const { status, headers } = head;
  const type = headers["content-type"];
  const kind = typeof type === "string" ? type : "no content type";
  if (status === undefined) return ok(`accepts requests, answers with ${kind}`);
  // Legacy servers refuse a modern request in many ways.
  return ok(`server/discover returned HTTP ${status}, ${kind}`);
}

/** Whether credentials were required, sent and accepted; never their values. `login` is what is kept for the server. */
export function authenticationFinding(
  { headers, url }: HttpReach,
  head: HttpHead | undefined,
  login?: string,
): Finding {
  const given = Object.keys(headers).filter((name) => /auth|key|token|cookie/i.test(name));
  if (login !== undefined) return ok(`accepted, with the kept login: ${login}`);
  if (head?.status === 401) {
    return {
      verdict: "note",
      evidence: [
        `server/discover requires credentials (${String(head.headers["www-authenticate"] ?? "HTTP 401")}), other requests do not`,
      ],
    };
  }
  if (given.length > 0) return ok(`accepted, with ${given.join(", ")}`);
  const { username, password } = new URL(url);
  return username !== "" || password !== "" ? ok("accepted, with the user name in the URL") : ok("none required");
}
