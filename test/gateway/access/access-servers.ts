import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { CallToolResult, Connection } from "../../../src/index.ts";
import { isResponse, type Message, type RequestId } from "../../../src/protocol/json-rpc.ts";
import { TASKS_EXTENSION } from "../../../src/protocol/meta.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import type { ServerScript } from "../../../src/testing/server-script.ts";

const region = { type: "string", "x-mcp-header": "Region" };

const TASK = { taskId: "t1", status: "working", ttlMs: null, pollIntervalMs: 5 };

/** One tool of each annotation, one that asks, one that makes tasks, one whose argument travels as a header. */
const TOOLS: NonNullable<ServerScript["tools"]> = {
  look: { annotations: { readOnlyHint: true }, run: () => "looked" },
  change: () => "changed",
  destroy: { annotations: { destructiveHint: true }, run: () => "destroyed" },
  placed: {
    annotations: { destructiveHint: true },
    inputSchema: { type: "object", properties: { region } },
    run: () => "placed",
  },
  working: {
    run: (_args, { era }) =>
      era === "modern" ? ({ ...TASK, resultType: "task" } as unknown as CallToolResult) : "worked",
  },
  asking: {
    annotations: { destructiveHint: true },
    run: async (_args, { ask }) => {
      await ask("elicitation/create", { mode: "form", message: "Sure?", requestedSchema: { type: "object" } });
      return "asked";
    },
  },
};

/** A server with something of everything, in this process; each method that reaches it is written down. */
export function cabinet(script: ServerScript = {}): ScriptedServer {
  const server = new ScriptedServer({
    era: "modern",
    instructions: "Open the left drawer first.",
    tools: TOOLS,
    prompts: { greet: "Hello", curse: "Damn" },
    resources: { "note://open": "open", "note://secret": "secret" },
    capabilities: { completions: {}, extensions: { [TASKS_EXTENSION]: {} } },
    ...script,
  });
  const result = { content: [{ type: "text", text: "worked" }] };
  server
    .on("resources/templates/list", () => ({ resourceTemplates: [{ uriTemplate: "note://{name}", name: "notes" }] }))
    .on("completion/complete", () => ({ completion: { values: ["open"] } }))
    .on("acme/run", () => ({ ran: true }))
    .on("acme/status", () => ({ fine: true }))
    .on("tasks/get", () => ({ ...TASK, status: "completed", result }))
    .on("tasks/cancel", () => ({}));
  return server;
}

/** A scripted server of the older revisions as a process of its own would be reached: over HTTP, in sessions. */
export async function overHttp(server: ScriptedServer): Promise<AsyncDisposable & { url: string }> {
  const sessions = new Map<string, { connection: Connection; waiting: Map<RequestId, (answer: Message) => void> }>();
  const open = async (id: string) => {
    const waiting = new Map<RequestId, (answer: Message) => void>();
    const message = (said: Message) => {
      if (isResponse(said) && said.id !== undefined && said.id !== null) waiting.get(said.id)?.(said);
    };
    const session = { connection: await server.transport.connect({ message, discarded() {} }), waiting };
    sessions.set(id, session);
    return session;
  };
  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    if (req.method !== "POST") return void res.writeHead(405).end();
    const message = (await json(req)) as Message;
    const id = String(req.headers["mcp-session-id"] ?? randomUUID());
    const { connection, waiting } = sessions.get(id) ?? (await open(id));
    const requestId = "method" in message && "id" in message ? message.id : undefined;
    const answered = new Promise<Message>((resolve) => {
      if (requestId !== undefined) waiting.set(requestId, resolve);
    });
    void connection.send(message);
    if (requestId === undefined) return void res.writeHead(202).end();
    const answer = JSON.stringify(await answered);
    res.writeHead(200, { "content-type": "application/json", "mcp-session-id": id }).end(answer);
  };
  const http = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

/** Which tools a server was called, over all its connections. */
export function calledTools(server: ScriptedServer): unknown[] {
  return server.received.flatMap((message) =>
    "method" in message && message.method === "tools/call" ? [message.params?.["name"]] : [],
  );
}
