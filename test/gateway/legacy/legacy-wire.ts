import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { json } from "node:stream/consumers";
import type { View } from "../../../src/gateway/names/view.ts";
import type { Views } from "../../../src/gateway/requests/views.ts";
import { LegacyHttp, type LegacyHttpOptions } from "../../../src/server/http/legacy-http.ts";
import { SERVER_LIMITS, type ServerLimits } from "../../../src/server/core/limits.ts";
import { ByteBudget, UnreadBytes } from "../../../src/server/core/byte-budget.ts";
import { SessionIds } from "../../../src/server/sessions/session-ids.ts";
import { SILENT } from "../../../src/text/logger.ts";
import { OpenStreams } from "../../../src/server/core/open-streams.ts";
import { ANYBODY, type Principal } from "../../../src/server/core/principal.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import { BareEndpoint } from "../../fixtures/gateway/bare-endpoint.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";

export interface WireEvent {
  id?: string;
  event?: string;
  retry?: string;
  data?: string;
  message?: WireMessage;
}

/** The older clients' endpoint on a port of its own, and a bare client for it. */
export async function serveLegacy(
  views: Views,
  { limits: given, ...options }: Partial<Omit<LegacyHttpOptions, "limits">> & { limits?: Partial<ServerLimits> } = {},
) {
  const limits = { ...SERVER_LIMITS, sessions: 100, sessionIdleMs: 60_000, ...given };
  const streams = new OpenStreams(limits);
  const legacy = new LegacyHttp({
    self: "gateway",
    limits,
    streams,
    unread: new UnreadBytes(new ByteBudget(limits)),
    ids: new SessionIds(limits.sessionLifeMs),
    logger: SILENT,
    patienceMs: 60_000,
    ...options,
  });
  const resumed: string[] = [];
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? "/", "http://127.0.0.1");
    const server = url.searchParams.get("server");
    const view: View = server === null ? { kind: "all" } : { kind: "one", server };
    const somebody = req.headers["x-somebody"];
    const principal: Principal = typeof somebody === "string" ? { ...ANYBODY, id: somebody } : ANYBODY;
    const r = { core: new BareEndpoint(views, view), principal };
    if (req.method === "GET" && url.pathname === "/sse") return legacy.openSse(req, res, r);
    if (req.method === "GET") {
      const { "last-event-id": last } = req.headers;
      if (typeof last === "string") resumed.push(last);
      return void legacy.get(req, res, r);
    }
    if (req.method === "DELETE") return void legacy.delete(req, res, r);
    void json(req).then((body) => {
      return url.pathname === "/messages"
        ? legacy.postSse(req, res, { ...r, body, url })
        : legacy.post(req, res, r, { body });
    });
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    legacy,
    streams,
    origin,
    sockets,
    /** Events after which clients wanted to go on. */
    resumed,
    /** Bytes that clients have not taken. */
    unread: () => [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0),
    open: (version: string, capabilities: object = {}) => LegacyWire.open(`${origin}/mcp`, version, capabilities),
    async [Symbol.asyncDispose]() {
      await legacy.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A session spoken to in bare HTTP. */
export class LegacyWire {
  readonly #url: string;
  readonly headers: Record<string, string>;
  readonly initialized: WireMessage;
  #lastId = 0;

  static async open(
    url: string,
    protocolVersion: string,
    capabilities: object = {},
    headers: Record<string, string> = {},
  ): Promise<LegacyWire> {
    const params = { protocolVersion, capabilities, clientInfo: { name: "wire", version: "1" } };
    const response = await send(url, { jsonrpc: "2.0", id: "init", method: "initialize", params }, headers);
    const body = (await response.json()) as WireMessage;
    const session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
    const wire = new LegacyWire(url, { ...session, ...headers }, body);
    await wire.post({ method: "notifications/initialized" });
    return wire;
  }

  constructor(url: string, headers: Record<string, string>, initialized: WireMessage) {
    this.#url = url;
    this.headers = headers;
    this.initialized = initialized;
  }

  post(message: object, headers: Record<string, string> = {}): Promise<Response> {
    const body = Array.isArray(message) ? message : { jsonrpc: "2.0", ...message };
    return send(this.#url, body, { ...this.headers, ...headers });
  }

  request(method: string, params: Params = {}, headers: Record<string, string> = {}): Promise<Response> {
    this.#lastId += 1;
    return this.post({ id: this.#lastId, method, params }, headers);
  }

  /** Calls a tool and returns what came: the one answer, or everything of the stream. */
  async call(name: string, args: Params = {}, meta?: Params): Promise<WireMessage[]> {
    return messagesOf(await this.request("tools/call", { name, arguments: args, ...(meta ? { _meta: meta } : {}) }));
  }

  /** The answer to a request, whether it came as JSON or on a stream. */
  async answerTo(method: string, params: Params = {}): Promise<WireMessage> {
    const messages = await messagesOf(await this.request(method, params));
    return messages.at(-1) ?? {};
  }

  get(headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const all = { accept: "text/event-stream", ...this.headers, ...headers };
    return fetch(this.#url, { headers: all, ...(signal ? { signal } : {}) });
  }

  delete(): Promise<Response> {
    return fetch(this.#url, { method: "DELETE", headers: this.headers });
  }
}

export function send(
  url: string,
  body: object,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

async function messagesOf(response: Response): Promise<WireMessage[]> {
  if (response.headers.get("content-type") === "application/json") return [(await response.json()) as WireMessage];
  const messages: WireMessage[] = [];
  for await (const { message } of eventsOf(response)) if (message) messages.push(message);
  return messages;
}

/** The events of a stream as they come. */
export async function* eventsOf(response: Response): AsyncGenerator<WireEvent> {
  let rest = "";
  if (!response.body) return;
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const event: WireEvent = {};
      for (const line of rest.slice(0, end).split("\n")) {
        const [, field, value] = /^(id|event|retry|data): (.*)$/.exec(line) ?? [];
        if (field !== undefined) event[field as "id"] = value ?? "";
      }
      rest = rest.slice(end + 2);
      if (event.data && event.event !== "endpoint") event.message = JSON.parse(event.data) as WireMessage;
      yield event;
    }
  }
}
