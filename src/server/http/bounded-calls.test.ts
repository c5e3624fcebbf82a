import { connect as connectSocket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connect } from "../../index.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { McpServer } from "../features/mcp-server.ts";
import { serveHttp, type HttpServing, type ServeHttpOptions } from "./serve-http.ts";

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const open: HttpServing[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((serving) => serving.close()))));

async function serve(options: ServeHttpOptions = {}, revisions?: readonly Revision[]) {
  const server = new McpServer({ name: "here", version: "1.0.0", revisions });
  server.tool({ name: "who" }, (_args, { principal, era }) => `${principal.id} ${era}`);
  const serving = await serveHttp(server, options);
  open.push(serving);
  return { server, serving };
}

test("requests sent before the answers to earlier ones wait, and a client that sends many is disconnected", async () => {
  const { server, serving } = await serve();
  let running = 0;
  server.tool({ name: "hang" }, (_args, { signal }) => {
    running++;
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(`${running--}`)));
  });
  const request = (name: string) => {
    const params = { name, _meta: MODERN_META };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const headers = [
      `POST /mcp HTTP/1.1`,
      `Host: 127.0.0.1:${serving.port}`,
      "Content-Type: application/json",
      "MCP-Protocol-Version: 2026-07-28",
      "Mcp-Method: tools/call",
      `Mcp-Name: ${name}`,
      `Content-Length: ${body.length}`,
    ];
    return `${headers.join("\r\n")}\r\n\r\n${body}`;
  };
  const socket = connectSocket(serving.port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => (received += String(bytes)));
  socket.write(request("who") + request("who") + request("hang") + request("hang"));
  await expect.poll(() => received.split("anybody modern").length - 1).toBe(2);
  await expect.poll(() => running).toBe(1);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {}).write(request("hang").repeat(40));
  await closed;
  await expect.poll(() => running).toBe(0);
});

test.each(["sse", "mcp"] as const)("the calls of one session of an older client are bounded at /%s", async (path) => {
  const { server, serving } = await serve({ limits: { totalBytes: 64 * 1024 } }, ["2025-11-25"]);
  server.tool({ name: "hang" }, (_args, { signal }) => {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("over")));
  });
  await using client = await connect({ url: serving.url.replace(/mcp$/, path) });
  const stops = Array.from({ length: 24 }, () => new AbortController());
  const failed: unknown[] = [];
  const calls = stops.map(({ signal }) =>
    client.callTool("hang", {}, { signal }).catch((error: unknown) => failed.push(error)),
  );
  await expect.poll(() => failed.length).toBe(4);
  expect(failed[0]).toMatchObject({ message: expect.stringContaining("limits.totalBytes") });
  for (const stop of stops) stop.abort();
  await Promise.all(calls);
  await expect.poll(() => client.callTool("who").catch(() => "full")).toMatchObject({ content: [{}] });
});

test("a body with more values than allowed is refused before it is parsed", async () => {
  const { server, serving } = await serve({ limits: { jsonValues: 100 } });
  let called = 0;
  server.tool("count", { input: { type: "object" } }, () => `${++called}`);
  const post = async (items: number) => {
    const params = { name: "count", arguments: { items: Array.from({ length: items }, () => 1) }, _meta: MODERN_META };
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "count",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const response = await fetch(serving.url, { method: "POST", headers, body });
    return { status: response.status, body: await response.json() };
  };
  expect(await post(80)).toMatchObject({ status: 200, body: { result: {} } });
  expect(await post(100)).toEqual({
    status: 413,
    body: {
      jsonrpc: "2.0",
      error: {
        code: -32600,
        message:
          "The request has more than 100 values. Send it in smaller parts, or raise limits.jsonValues of the server",
        data: { code: "MESSAGE_TOO_LARGE", limit: { name: "jsonValues", max: 100 } },
      },
    },
  });
  expect(called).toBe(1);
});

test("a body with an object of more members than allowed is refused before it is parsed", async () => {
  const { serving } = await serve();
  const names = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`n${index}`, 1]));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { names } });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetch(serving.url, { method: "POST", headers, body });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({
    error: {
      message:
        "The request has an object with more than 20000 members. Send it in smaller parts, or raise limits.jsonMembers of the server",
      data: { limit: { name: "jsonMembers", max: 20_000 } },
    },
  });
});
