import { Network } from "../../net/network.ts";
import type { Message } from "../../protocol/json-rpc.ts";
import { modernHeaders, modernMeta } from "../../protocol/modern.ts";
import { LATEST } from "../../protocol/revisions.ts";
import { VERSION } from "../../protocol/version.ts";
import { HttpEndpoint, parseUrl } from "../../transport/http-endpoint.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { ResponseHeaders, Sending } from "../../transport/transport.ts";
import { ok, type Finding } from "./check.ts";

/** How a server answers one request, before anything is made of it. */
export interface HttpHead {
  /** Undefined where it was accepted. */
  status: number | undefined;
  headers: ResponseHeaders;
}

const MAX_BYTES = 1024 * 1024;

/** Sends one request as a client does and looks at the head of the answer; undefined where none comes. */
export async function readHead(
  reach: HttpReach,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<HttpHead | undefined> {
  await using network = new Network({ proxy: surroundings.proxy });
  const method = "server/discover";
  const clientInfo = { name: "nexus-mcp", version: VERSION };
  const params = { _meta: modernMeta({ version: LATEST, clientInfo, capabilities: {} }) };
  const message: Message = { jsonrpc: "2.0", id: "nexus-doctor", method, params };
  const headers = modernHeaders(LATEST, method, params);
  let sending: Sending | undefined;
  try {
    const options = { url: reach.url, headers: reach.headers, network, maxMessageBytes: MAX_BYTES };
    const endpoint = await HttpEndpoint.open(parseUrl(reach.url), options, { message() {}, discarded() {} });
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
          ? endpoint.start({ method: "GET", delivery })
          : endpoint.start({ method: "POST", message, delivery: { ...delivery, headers } });
    });
  } catch {
    // What is wrong here is wrong for the client, too, and said there.
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
  // Servers of the legacy era may refuse the question of the modern one in many ways.
  return ok(`server/discover returned HTTP ${status}, ${kind}`);
}

/** Whether credentials were wanted, given and taken: only that, never what they are. */
export function authenticationFinding({ headers, url }: HttpReach, head: HttpHead | undefined): Finding {
  const given = Object.keys(headers).filter((name) => /auth|key|token|cookie/i.test(name));
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
