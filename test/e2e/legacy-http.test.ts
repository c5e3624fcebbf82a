import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { connect, MemoryTransport } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "s", version: "1" },
};

/** A legacy server whose streams break as told: `onCall` gets the response to tools/call, `onGet` the later GETs. */
async function breaking(
  onCall: (response: ServerResponse, id: number) => void,
  onGet: (response: ServerResponse, lastEventId: string | undefined, id: number) => void,
) {
  let call = 0;
  const resumed: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      const lastEventId = request.headers["last-event-id"] as string | undefined;
      if (lastEventId === undefined) return void response.writeHead(405).end();
      resumed.push(lastEventId);
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      return onGet(response, lastEventId, call);
    }
    let text = "";
    request.on("data", (chunk: Buffer) => (text += String(chunk)));
    request.on("end", () => {
      const message = text === "" ? {} : (JSON.parse(text) as { id?: number; method?: string });
      if (message.method === "initialize") {
        response.writeHead(200, { "Content-Type": "application/json" });
        return void response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: INITIALIZED }));
      }
      if (message.method !== "tools/call") return void response.writeHead(202).end();
      call = message.id ?? 0;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      onCall(response, call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    resumed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const answer = (id: number) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })}\n\n`;

test("HTTP+SSE is found as the last resort, and can be asked for (B1)", async () => {
  await using server = await startHttpFixture({ revision: "2024-11-05" });
  await using found = await connect({ url: server.url });
  await using asked = await connect({ url: server.sseUrl, type: "sse" });
  for (const client of [found, asked]) {
    expect(client).toMatchObject({ era: "legacy", protocolVersion: "2024-11-05" });
    expect(await client.callTool("echo", { text: "over SSE" })).toMatchObject({ content: [{ text: "over SSE" }] });
  }
});

test("an HTTP+SSE stream that ends fails what is pending, and says so", async () => {
  const server = await startHttpFixture({ revision: "2024-11-05" });
  await using client = await connect({ id: "old", url: server.sseUrl, type: "sse" });
  const pending = failure(client.callTool("sleep", { ms: 60_000 }));
  await client.callTool("echo", { text: "it is under way" });
  await server.close();
  expect(await pending).toMatchObject({ code: "CONNECTION_LOST", details: { server: "old", mayHaveReached: true } });
  expect((await client.closed).kind).toBe("stream-ended");
});

test("an HTTP+SSE server that wants posts at another origin is refused (R8)", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("event: endpoint\ndata: http://elsewhere.invalid/messages\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
  expect(await failure(connect({ url, type: "sse" }))).toMatchObject({ code: "REDIRECT_REFUSED" });
  server.closeAllConnections();
  server.close();
});

test("an HTTP+SSE stream that never names its endpoint is given up on in time", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(": hello\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
  const options = { connectTimeoutMs: 100 };
  expect(await failure(connect({ url, type: "sse" }, options))).toMatchObject({ code: "TIMEOUT" });
  expect(await failure(connect({ url: "http://127.0.0.1:1/", type: "sse" }, options))).toMatchObject({
    code: "CONNECTION_FAILED",
  });
  server.closeAllConnections();
  server.close();
});

test("a stream that the server closes is taken up where it ended (R7)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await using client = await connect({ url: server.url });
  const result = await client.callTool("test_reconnection");
  expect(result).toMatchObject({ content: [{ text: "Reconnection test completed." }] });
});

test("a stream is resumed after the pause the server asked for, from the last event that arrived whole (R7)", async () => {
  await using server = await breaking(
    (response) => {
      response.write("retry: 20\nid: a1\ndata: \n\n");
      response.write("id: a2\ndata: ");
      setImmediate(() => response.destroy());
    },
    (response, lastEventId, id) => {
      if (lastEventId === "a1") response.end("id: a3\ndata: \n\n");
      else response.end(answer(id));
    },
  );
  await using client = await connect({ url: server.url }, { era: "legacy" });
  expect(await client.callTool("x")).toEqual({ content: [] });
  expect(server.resumed).toEqual(["a1", "a3"]);
});

test("a stream without event ids, or one the server does not take up, fails the call at once (R7)", async () => {
  await using plain = await breaking(
    (response) => response.end("data: \n\n"),
    (response) => response.end(),
  );
  await using first = await connect({ url: plain.url }, { era: "legacy" });
  expect(await failure(first.callTool("x"))).toMatchObject({ code: "CONNECTION_LOST" });
  expect(plain.resumed).toEqual([]);

  await using server = await startHttpFixture({ revision: "2025-11-25", misbehave: ["no-get"] });
  await using second = await connect({ url: server.url });
  expect(await failure(second.callTool("test_reconnection"))).toMatchObject({ code: "CONNECTION_LOST" });
});

test("a call during which somebody was asked is not made again, however harmless its tool says it is (R7)", async () => {
  const called: string[] = [];
  let stream: ServerResponse | undefined;
  const question = {
    jsonrpc: "2.0",
    id: "q1",
    method: "elicitation/create",
    params: { message: "?", requestedSchema: {} },
  };
  const tools = [{ name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let text = "";
    request.on("data", (chunk: Buffer) => (text += String(chunk)));
    request.on("end", () => {
      const { id, method = "answer" } = JSON.parse(text) as { id?: number; method?: string };
      called.push(method);
      if (method === "tools/call") {
        stream = response.writeHead(200, { "Content-Type": "text/event-stream" });
        return void stream.write(`data: ${JSON.stringify(question)}\n\n`);
      }
      const result = { initialize: INITIALIZED, "tools/list": { tools } }[method];
      if (!result) response.writeHead(202).end();
      else response.writeHead(200, { "Content-Type": "application/json" });
      if (result) response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "answer") stream?.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const input = { capabilities: { elicitation: {} }, handle: () => ({ action: "accept" as const, content: {} }) };
  await using client = await connect({ url }, { era: "legacy", input });
  await client.listTools();
  expect(await failure(client.callTool("look"))).toMatchObject({ code: "CONNECTION_LOST" });
  expect(called.filter((method) => method === "tools/call")).toHaveLength(1);
  server.closeAllConnections();
  server.close();
});

test("aborting a call that waits to be resumed stops the waiting (R7, G6)", async () => {
  await using server = await breaking(
    (response) => response.end("retry: 60000\nid: a1\ndata: \n\n"),
    (response) => response.end(),
  );
  await using client = await connect({ url: server.url }, { era: "legacy" });
  expect(await failure(client.callTool("x", {}, { timeoutMs: 100 }))).toMatchObject({ code: "TIMEOUT" });
  expect(server.resumed).toEqual([]);
});

test("batches of 2025-03-26 are taken apart, over a pipe and over HTTP (G7)", async () => {
  const notes: unknown[] = [];
  const script = `process.stdin.on("data", (chunk) => String(chunk).trim().split("\\n").forEach((line) => {
    const { id, method } = JSON.parse(line);
    const result = method === "initialize" ? ${JSON.stringify({ ...INITIALIZED, protocolVersion: "2025-03-26" })} : {};
    if (id) console.log(JSON.stringify([{ jsonrpc: "2.0", method: "notifications/x" }, { jsonrpc: "2.0", id, result }]));
  }))`;
  await using client = await connect(
    { command: process.execPath, args: ["-e", script] },
    { era: "legacy", onNotification: ({ method }) => notes.push(method) },
  );
  expect(await client.request("anything")).toEqual({});
  expect(notes).toEqual(["notifications/x", "notifications/x"]);
});

test("what a closed memory or stdio connection is still asked to send is refused, not lost", async () => {
  const memory = new MemoryTransport((peer) => (peer.onMessage = () => peer.close()));
  await using client = await connect(memory, { protocolVersion: "2026-07-28" });
  expect(await failure(client.callTool("x"))).toMatchObject({ code: "CONNECTION_LOST" });
  const process = await connect(stdioFixture());
  await process.close();
  expect(await failure(process.callTool("x"))).toMatchObject({ code: "CLOSED", details: { mayHaveReached: false } });
});
