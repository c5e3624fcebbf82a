import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Params, Request } from "../../src/protocol/json-rpc.ts";
import { toolsFor } from "../gateway/able-server.ts";

/** A legacy HTTP server with a tool for each capability that its client declares; it answers an unknown session with 400. */
export class AbleHttpServer implements AsyncDisposable {
  readonly #sessions = new Map<string, Params>();
  readonly #server = createServer((req, res) => void this.#serve(req, res));
  /** Sessions that were ever opened. */
  opened = 0;

  static async open(): Promise<AbleHttpServer> {
    const opened = new AbleHttpServer();
    await new Promise<void>((resolve) => opened.#server.listen(0, "127.0.0.1", resolve));
    return opened;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  /** As after a restart: no session is known any more. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const session = String(req.headers["mcp-session-id"] ?? "");
    if (req.method !== "POST") return void res.writeHead(req.method === "GET" ? 405 : 200).end();
    const message = (await json(req)) as Request;
    const { id, method, params = {} } = message;
    const reply = (status: number, body: object, headers = {}) =>
      void res
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify({ jsonrpc: "2.0", id: id ?? null, ...body }));
    if (method === "initialize") {
      const opened = randomUUID();
      this.opened++;
      this.#sessions.set(opened, params["capabilities"] as Params);
      const capabilities = { tools: { listChanged: true } };
      const result = { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "able", version: "1" } };
      return reply(200, { result }, { "mcp-session-id": opened });
    }
    const declared = this.#sessions.get(session);
    if (!declared) {
      return reply(400, { error: { code: -32_000, message: "Bad Request: No valid session ID provided" } });
    }
    if (id === undefined) return void res.writeHead(202).end();
    if (method === "ping") return reply(200, { result: {} });
    if (method === "tools/list") return reply(200, { result: { tools: toolsFor(declared) } });
    if (method === "tools/call") {
      return reply(200, { result: { content: [{ type: "text", text: String(params["name"]) }] } });
    }
    return reply(200, { error: { code: -32_601, message: "Method not found" } });
  }
}
