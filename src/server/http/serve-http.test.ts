import { connect as connectSocket, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { connect, NexusError } from "../../index.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { SILENT } from "../../text/logger.ts";
import { McpServer } from "../features/mcp-server.ts";
import { serveHttp, type ServeHttpOptions, type HttpServing } from "./serve-http.ts";

const open: HttpServing[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((serving) => serving.close()))));

async function serve(options: ServeHttpOptions = {}, revisions?: readonly Revision[]) {
  const server = new McpServer({ name: "here", version: "1.0.0", revisions });
  server.tool({ name: "who" }, (_args, { principal, era }) => `${principal.id} ${era}`);
  const serving = await serveHttp(server, options);
  open.push(serving);
  return { server, serving, url: serving.url, sse: serving.url.replace(/mcp$/, "sse") };
}

test.each<[options: object, message: string, hint: string]>([
  [{ host: "127.0.0.1" }, `"host" is not an option of serveHttp`, `"address"`],
  [{ prot: 3000 }, `"prot" is not an option of serveHttp`, `"port"`],
  [{ port: "3000" }, `"3000" is not a port number`, "0 to 65535"],
  [{ port: 65_536 }, "65536 is not a port number", "0 to 65535"],
  [{ port: -1 }, "-1 is not a port number", "0 to 65535"],
  [{ port: 80.5 }, "80.5 is not a port number", "0 to 65535"],
])("serveHttp refuses the options %j, and its hint names what is meant", async (options, message, hint) => {
  await expect(serve(options)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message,
    details: { hint: expect.stringContaining(hint) as string },
  });
});

describe("a server of one's own over HTTP", () => {
  test.each<[string, readonly Revision[] | undefined]>([
    ["2026-07-28", undefined],
    ["2026-07-28", ["2026-07-28"]],
    ["2025-11-25", ["2025-11-25", "2025-06-18"]],
    ["2025-03-26", ["2025-03-26"]],
  ])("is spoken to in %s where it serves %j", async (version, revisions) => {
    const { url } = await serve({}, revisions);
    await using client = await connect({ url });
    expect(client.protocolVersion).toBe(version);
    expect(await client.callTool("who")).toMatchObject({ content: [{ text: `anybody ${client.era}` }] });
  });

  test("serves HTTP+SSE beside Streamable HTTP", async () => {
    const { sse } = await serve();
    await using client = await connect({ url: sse });
    expect(client.era).toBe("legacy");
    expect(await client.callTool("who")).toMatchObject({ content: [{ text: "anybody legacy" }] });
  });

  test("tells clients of both eras what changes while they listen", async () => {
    const { url, sse, server } = await serve();
    for (const address of [url, sse]) {
      await using client = await connect({ url: address });
      const heard: string[] = [];
      await using subscription = await client.subscribe({ lists: ["tools"], resources: ["a://b"] }, ({ kind }) =>
        heard.push(kind),
      );
      server.resource({ uri: "a://b", name: "b" }, () => "b");
      server.tool({ name: `more-${new URL(address).pathname.slice(1)}` }, () => "more");
      await expect.poll(() => heard).toContain("list-changed");
      expect(subscription.accepted.lists).toEqual(["tools"]);
      server.remove("tools", `more-${new URL(address).pathname.slice(1)}`);
      expect((await client.listTools()).map(({ name }) => name)).toEqual(["who"]);
    }
  });

  test("lets a client of 2025-11-25 disconnect during a long call, and come back for the answer", async () => {
    const { url, server } = await serve({}, ["2025-11-25"]);
    const post = (message: object, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
    let answer = () => {};
    const wanted = new Promise<void>((resolve) => (answer = resolve));
    server.tool({ name: "long" }, async (_args, { pause }) => {
      pause(5);
      await wanted;
      return "there it is";
    });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const opened = await post({ id: 1, method: "initialize", params });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const first = await (await post({ id: 2, method: "tools/call", params: { name: "long" } }, session)).text();
    expect(first).toMatch(/retry: 5\n/);
    answer();
    const last = /^id: (.+)$/m.exec(first)?.[1] ?? "";
    const rest = await fetch(url, { headers: { ...session, accept: "text/event-stream", "last-event-id": last } });
    expect(await rest.text()).toContain("there it is");
  });

  test("asks for credentials, and knows who calls", async () => {
    const { url } = await serve({
      authenticate({ authorization }) {
        if (authorization !== "Bearer secret") throw new NexusError("AUTH_REQUIRED", "Send a token");
        return { id: "ada", tenant: "default" };
      },
    });
    await expect(connect({ url })).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    await using client = await connect({ url, headers: { Authorization: "Bearer secret" } });
    expect(await client.callTool("who")).toMatchObject({ content: [{ text: "ada modern" }] });
  });

  test("why initialize failed is in the log, also where an earlier session is opened again", async () => {
    const logged: string[] = [];
    const { core } = new McpServer({ name: "here", version: "1.0.0" });
    const offer = vi.spyOn(core, "offer");
    const logger = { ...SILENT, error: (message: string) => logged.push(message) };
    const serving = await serveHttp({ core }, { logger, limits: { sessions: 1 } });
    open.push(serving);
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const post = async (method: string, session: Record<string, string> = {}) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { protocolVersion: "2025-11-25" } });
      const response = await fetch(serving.url, { method: "POST", headers: { ...headers, ...session }, body });
      return { id: response.headers.get("mcp-session-id") ?? "", text: await response.text() };
    };
    const { id } = await post("initialize");
    await post("initialize");
    offer.mockRejectedValue(new Error("disk full"));
    for (const { text: told } of [await post("initialize"), await post("ping", { "mcp-session-id": id })]) {
      expect(told).toContain("The server failed to answer");
      expect(told).not.toContain("disk");
    }
    expect(logged).toEqual(["initialize failed: disk full", "initialize failed: disk full"]);
  });

  test("a request whose caller is not named by authenticate fails, and the log says why", async () => {
    const logged: string[] = [];
    const { url } = await serve({
      authenticate: () => undefined as never,
      logger: { ...SILENT, error: (message) => logged.push(message) },
    });
    const response = await fetch(url, { method: "POST" });
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: -32603 } }]);
    expect(logged).toEqual(["POST /mcp failed: authenticate returned no principal"]);
  });

  test("does not listen on other addresses without authentication, nor on a port that is taken", async () => {
    await expect(serve({ address: "0.0.0.0" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await expect(serve({ port })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `Port ${port} of 127.0.0.1 is already in use`,
      hint: expect.stringContaining("port: 0"),
    });
    other.close();
  });

  test("refuses what names another host, and what is at no address of its own", async () => {
    const { url } = await serve();
    expect((await fetch(url.replace(/mcp$/, "elsewhere"))).status).toBe(404);
    const foreign = await fetch(url, { method: "POST", headers: { origin: "https://elsewhere.example" } });
    expect(foreign.status).toBe(403);
    expect(await foreign.text()).toContain("allowedOrigins");
    await expect(connect({ url, headers: { origin: "https://elsewhere.example" } })).rejects.toThrow(
      /\(HTTP 403\): Pages of .* may not call this server\. Allow them with allowedOrigins$/,
    );
  });

  test("without a logger, what its clients are not told is one line on stderr", async () => {
    const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      const { url, server } = await serve();
      server.resource({ uri: "a://broken", name: "broken" }, () => {
        throw new Error("disk full:\n/dev/sda1");
      });
      await using client = await connect({ url });
      await expect(client.readResource("a://broken")).rejects.toThrow("The server failed to answer resources/read");
      expect(written.mock.calls.map(([line]) => line)).toEqual(["resources/read failed: disk full:\\x0a/dev/sda1\n"]);
    } finally {
      written.mockRestore();
    }
  });

  test("answers what runs when it closes, and takes nothing afterwards", async () => {
    const { url, server, serving } = await serve();
    const started = new Promise<void>((resolve) => {
      server.tool({ name: "hang" }, (_args, { signal }) => {
        resolve();
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("over"))));
      });
    });
    const client = await connect({ url });
    const call = client.callTool("hang").catch((error: unknown) => error);
    await started;
    await serving.close();
    expect(await call).toMatchObject({ message: expect.stringContaining("The server is shutting down") });
    await client.close();
    await expect(connect({ url })).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  });

  test("serves nothing more after close, not even on a connection that is still in use", async () => {
    const { server, serving } = await serve();
    const ran: string[] = [];
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const started = new Promise<void>((resolve) => {
      server.tool({ name: "slow" }, () => {
        ran.push("slow");
        resolve();
        return finished.then(() => "slow");
      });
    });
    server.tool({ name: "late" }, () => {
      ran.push("late");
      return "late";
    });
    const socket = connectSocket(serving.port, "127.0.0.1");
    const received = text(socket);
    socket.write(rawCall(serving.port, "slow") + rawCall(serving.port, "late"));
    await started;
    const closed = serving.close();
    finish();
    await closed;
    expect(ran).toEqual(["slow"]);
    expect(await received).toMatch(/HTTP\/1\.1 200 .*HTTP\/1\.1 503 .*The server is shutting down/s);
  });
});

/** A call of a tool as bytes on a connection. */
function rawCall(port: number, name: string): string {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: name, method: "tools/call", params: { name, _meta } });
  const headers = [
    `host: 127.0.0.1:${port}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/call",
    `mcp-name: ${name}`,
    `content-length: ${body.length}`,
  ];
  return `POST /mcp HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${body}`;
}
