import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, test } from "vitest";
import { connect, type ConnectOptions, type InputProvider, type InputResult, type Params } from "../../src/index.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { failure } from "../fixtures/failure.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const FAST: ConnectOptions = { retry: { backoffMs: 1 } };
const MODERN = { protocolVersion: "2026-07-28" };
const LEGACY = { protocolVersion: "2025-11-25" };
const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {}, logging: {} },
  serverInfo: { name: "s", version: "1" },
};

interface Posted {
  id?: number;
  method?: string;
  params?: Params;
}

type Handler = (message: Posted, response: ServerResponse, request: IncomingMessage) => void;

/** A bare HTTP server that does exactly what it is told, and counts its sockets. */
async function bareServer(handler: Handler) {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += String(chunk)));
    request.on("end", () => handler(text === "" ? {} : (JSON.parse(text) as Posted), response, request));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    sockets,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function answer(response: ServerResponse, { id }: Posted, result: unknown, headers: Record<string, string> = {}): void {
  response
    .writeHead(200, { "Content-Type": "application/json", ...headers })
    .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

const asking = (handle: InputProvider["handle"]): { input: InputProvider } => ({
  input: { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} }, handle },
});

test("a repeat that failed before it was sent does not deny what the first try may have done (P1.10)", async () => {
  let ran = 0;
  const server = await bareServer((message, response) => {
    if (message.method === "tools/list") {
      const annotations = { idempotentHint: true };
      return answer(response, message, {
        resultType: "complete",
        tools: [{ name: "t", inputSchema: {}, annotations }],
      });
    }
    ran++;
    response.socket?.destroy();
    void server.stop();
  });
  await using client = await connect({ url: server.url }, { ...FAST, ...MODERN });
  await client.listTools();
  expect(await failure(client.callTool("t"))).toMatchObject({
    code: "CONNECTION_FAILED",
    details: { mayHaveReached: true },
  });
  expect(ran).toBe(1);
});

test("a server that takes the handshake's last word and never lets go is given up on in time", async () => {
  await using server = await bareServer((message, response) => {
    if (message.method === "initialize") answer(response, message, INITIALIZED);
  });
  const error = await failure(connect({ url: server.url }, { ...LEGACY, connectTimeoutMs: 200 }));
  expect(error).toMatchObject({
    code: "TIMEOUT",
    message: expect.stringContaining("Not connected within 0.2 s") as string,
  });
});

test("closing ends calls that are waiting for a user, for a retry, or for the next round", async () => {
  let withdrawn = false;
  let asked: () => void = () => {};
  const question = new Promise<void>((resolve) => (asked = resolve));
  const input = asking((_request, { signal }) => {
    signal.addEventListener("abort", () => (withdrawn = true));
    asked();
    return new Promise<never>(() => {});
  });
  await using server = await startHttpFixture();
  const client = await connect({ url: server.url }, { ...input, ...MODERN });
  const thinking = failure(client.callTool("test_elicitation", { message: "?" }));
  const retrying = failure(
    client.callTool("misbehave", { how: "status", key: "close", code: 429, times: 9, retryAfter: 20 }),
  );
  await question;
  await expect.poll(() => server.observations.attempts.get("close")).toBe(1);
  await client.close();
  expect([(await thinking).code, (await retrying).code, withdrawn]).toEqual(["CLOSED", "CLOSED", true]);
});

test.each(["stdio", "http"])(
  "a listener that throws harms neither the call nor the process, over %s",
  async (transport) => {
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => errors.push(message) };
    await using server = await startHttpFixture();
    await using client = await connect(transport === "http" ? { url: server.url } : stdioFixture(), { logger });
    const listeners: (() => unknown)[] = [
      () => {
        throw new Error("mine");
      },
      async () => {
        throw new Error("mine, too");
      },
    ];
    for (const listener of listeners) {
      const result = await client.callTool("test_tool_with_progress", {}, { onProgress: () => listener() as void });
      expect(result).toMatchObject({ content: [{ text: "Done." }] });
    }
    expect(errors.length).toBeGreaterThan(0);
  },
);

test.each([
  ["nothing", undefined],
  ["a number", 5],
  ["a BigInt", { action: "accept", content: { n: 1n } }],
])("an answer of the handler that is %s is refused to the server, and told to the logger", async (_case, wrong) => {
  const errors: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => errors.push(message) };
  await using client = await connect(stdioFixture(["--revision", "2025-11-25"]), {
    ...asking(() => wrong as InputResult),
    logger,
  });
  const result = await client.callTool("test_elicitation", { message: "?" });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("could not answer") as string }],
  });
  expect(errors).toHaveLength(1);
});

test("what a handler throws stays here: the server hears only that there is no answer", async () => {
  const server = new ScriptedServer({ era: "legacy" });
  await using client = await connect(
    server.transport,
    asking(() => {
      throw new Error("my private trouble");
    }),
  );
  const answered = server.request("elicitation/create", { message: "?", requestedSchema: {} });
  await expect(answered).rejects.toThrow("could not answer");
  await expect(answered).rejects.not.toThrow("private");
  await client.close();
});

test("calls made while a session is renewed wait for it, under their own clock (P1.8)", async () => {
  let sessions = 0;
  const seen: [string, unknown][] = [];
  let slow: (() => void) | undefined;
  await using server = await bareServer((message, response, { headers }) => {
    if (message.method === "initialize") {
      const finish = () => answer(response, message, INITIALIZED, { "Mcp-Session-Id": `s${++sessions}` });
      if (sessions === 0) finish();
      else slow = finish;
    } else if (message.method === "tools/call") {
      seen.push([String(message.params?.["name"]), headers["mcp-session-id"]]);
      if (headers["mcp-session-id"] === "s1") response.writeHead(404).end();
      else answer(response, message, { content: [] });
    } else response.writeHead(message.method ? 202 : 405).end();
  });
  await using client = await connect({ url: server.url }, { ...FAST, ...LEGACY });
  const first = client.callTool("first");
  await expect.poll(() => slow).toBeDefined();
  const second = client.callTool("second");
  const hurried = await failure(client.callTool("hurried", {}, { timeoutMs: 50 }));
  slow?.();
  expect(await Promise.all([first, second])).toEqual([{ content: [] }, { content: [] }]);
  expect(hurried).toMatchObject({ code: "TIMEOUT", details: { mayHaveReached: false } });
  expect(seen.shift()).toEqual(["first", "s1"]);
  expect(new Set(seen)).toEqual(
    new Set([
      ["first", "s2"],
      ["second", "s2"],
    ]),
  );
});

test.each([
  ["the official SDK's example", { error: { code: -32_000, message: "Bad Request: No valid session ID provided" } }],
  ["an SDK server that was restarted", { error: { code: -32_000, message: "Bad Request: Server not initialized" } }],
  ["a server that answers in plain text", "Invalid or missing session ID"],
])("400 for an unknown session, as %s sends it, renews the session once (P1.8)", async (_, refusal) => {
  let sessions = 0;
  await using server = await bareServer((message, response, { headers }) => {
    if (message.method === "initialize") {
      answer(response, message, INITIALIZED, { "Mcp-Session-Id": `s${++sessions}` });
    } else if (message.method === "tools/call" && headers["mcp-session-id"] === "s1") {
      const body = typeof refusal === "string" ? refusal : JSON.stringify({ jsonrpc: "2.0", id: null, ...refusal });
      const type = typeof refusal === "string" ? "text/plain" : "application/json";
      response.writeHead(400, { "Content-Type": type }).end(body);
    } else if (message.method === "tools/call") answer(response, message, { content: [] });
    else response.writeHead(message.method ? 202 : 405).end();
  });
  await using client = await connect({ url: server.url }, { ...FAST, ...LEGACY });
  expect(await client.callTool("first")).toEqual({ content: [] });
  expect(sessions).toBe(2);
});

test("400 for a request that is wrong does not renew the session, whatever it says about one (P1.8)", async () => {
  let sessions = 0;
  await using server = await bareServer((message, response) => {
    if (message.method === "initialize") {
      answer(response, message, INITIALIZED, { "Mcp-Session-Id": `s${++sessions}` });
    } else if (message.method === "tools/call") {
      const error = { code: -32_602, message: "The argument session is missing" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, error });
      response.writeHead(400, { "Content-Type": "application/json" }).end(body);
    } else response.writeHead(message.method ? 202 : 405).end();
  });
  await using client = await connect({ url: server.url }, { ...FAST, ...LEGACY });
  expect(await failure(client.callTool("first"))).toMatchObject({ code: "SERVER_ERROR", details: { status: 400 } });
  expect(sessions).toBe(1);
});

test("a session that is forgotten while nothing is called is renewed, too, with its log level (P1.8)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await using client = await connect({ url: server.url });
  await client.setLogLevel("warning");
  server.forgetSessions();
  await client.callTool("echo", { text: "x" });
  const levels = () =>
    server.transcript.messages("in").filter((message) => (message as Posted).method === "logging/setLevel");
  await expect.poll(() => levels().length).toBe(2);
});

test("a stream that is left open after the answer is let go of (N3)", async () => {
  await using server = await bareServer((message, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(
      `data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { resultType: "complete", content: [] } })}\n\n`,
    );
  });
  await using client = await connect({ url: server.url }, MODERN);
  await Promise.all(Array.from({ length: 20 }, () => client.callTool("x")));
  expect(server.sockets.size).toBe(20);
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a refusal whose body never ends is told at once and left (R8)", async () => {
  let left = 0;
  await using server = await bareServer((_message, response) => {
    response.writeHead(500, { "Content-Type": "text/plain" });
    const timer = setInterval(() => response.write("x".repeat(60_000)), 1);
    response.on("close", () => {
      clearInterval(timer);
      left++;
    });
  });
  await using client = await connect({ url: server.url }, { ...FAST, ...MODERN });
  expect(await failure(client.callTool("x"))).toMatchObject({ code: "HTTP_STATUS", details: { status: 500 } });
  await expect.poll(() => left).toBe(1);
});

test("a slow server that ends on the probe is started anew, too", async () => {
  const flags = ["--misbehave", "slow-start", "--delay", "400", "--misbehave", "die-on-probe"];
  await using client = await connect(stdioFixture(flags), { probeTimeoutMs: 100 });
  expect(client.era).toBe("legacy");
});

test("a modern server's requests are not answered, and modern notifications carry their version", async () => {
  const server = new ScriptedServer({ era: "modern" });
  await using client = await connect(
    server.transport,
    asking(() => ({ action: "accept" })),
  );
  await client.callTool("x").catch(() => {});
  server.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} });
  await client.ping();
  expect(server.received.filter((message) => !("method" in message))).toEqual([]);

  await using http = await startHttpFixture({ revision: "2026-07-28" });
  await using other = await connect({ url: http.url });
  await other.notify("notifications/x").catch(() => {});
  const posted = http.transcript.entries.find(
    ({ message }) => (message as Posted | undefined)?.method === "notifications/x",
  );
  expect(posted?.headers).toMatchObject({ "mcp-protocol-version": "2026-07-28" });
});

test.each([{}, { inputRequests: null }, { inputRequests: { a: null } }, { inputRequests: { a: {} } }])(
  "input_required with %j breaks the protocol, and the call is not made again",
  async (asked) => {
    const server = new ScriptedServer({ era: "modern" }).on("tools/call", () => ({
      resultType: "input_required",
      ...asked,
    }));
    await using client = await connect(
      server.transport,
      asking(() => ({ roots: [] })),
    );
    expect(await failure(client.callTool("x"))).toMatchObject({ code: "PROTOCOL_VIOLATION", details: { raw: asked } });
    expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(1);
  },
);

test("rounds without questions are waited out, with the state exactly as it came", async () => {
  const states: unknown[] = [];
  const server = new ScriptedServer({ era: "modern" }).on("tools/call", (params) => {
    states.push(params?.["requestState"]);
    return states.length < 3
      ? { resultType: "input_required", requestState: `s${states.length}` }
      : { resultType: "complete", content: [] };
  });
  await using client = await connect(server.transport, {});
  expect(await client.callTool("x")).toMatchObject({ content: [] });
  expect(states).toEqual([undefined, "s1", "s2"]);
});

test("arguments that are no JSON are the caller's mistake, and leave nothing behind", async () => {
  await using client = await connect(stdioFixture());
  expect(await failure(client.callTool("echo", { text: 1n }))).toMatchObject({
    code: "ARGUMENTS_INVALID",
    details: { mayHaveReached: false },
  });
  expect(await failure(client.callTool("echo", {}, { timeoutMs: Number.NaN }))).toMatchObject({
    code: "ARGUMENTS_INVALID",
  });
  expect(await client.callTool("echo", { text: "next" })).toMatchObject({ content: [{ text: "next" }] });
});

test("a server that closes its stdin, or never reads it, is noticed (R8)", async () => {
  const hello = JSON.stringify({ jsonrpc: "2.0", id: 1, result: INITIALIZED });
  const closing = `read -r line; printf '%s\\n' '${hello}'; read -r line; exec 0<&-; sleep 60`;
  await using client = await connect({ command: "sh", args: ["-c", closing] }, LEGACY);
  const errors = [await failure(client.callTool("x", {}, { timeoutMs: 5_000 }))];
  errors.push(await failure(client.callTool("y", {}, { timeoutMs: 5_000 })));
  expect(errors.map(({ code }) => code)).toContain("CONNECTION_LOST");

  const deaf = `read -r line; printf '%s\\n' '${hello}'; sleep 60`;
  await using other = await connect({ command: "sh", args: ["-c", deaf] }, LEGACY);
  const text = "x".repeat(8 * 1024 * 1024);
  const calls = Array.from({ length: 12 }, () => failure(other.callTool("x", { text }, { timeoutMs: 300 })));
  const codes = new Set((await Promise.all(calls)).map(({ code }) => code));
  expect(codes).toEqual(new Set(["TIMEOUT", "CONNECTION_LOST"]));
});

test("aborting ends the pause before the next probe", async () => {
  await using server = await bareServer((_message, response) => response.writeHead(429, { "Retry-After": "20" }).end());
  const abort = new AbortController();
  const opening = failure(connect({ url: server.url }, { signal: abort.signal }));
  await expect.poll(() => server.sockets.size).toBe(1);
  abort.abort();
  expect((await opening).code).toBe("CANCELLED");
});

test("a 429 with a JSON-RPC body is waited out like any other", async () => {
  let probes = 0;
  await using server = await bareServer((message, response) => {
    if (probes++ > 0)
      return answer(response, message, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} });
    response.writeHead(429, { "Content-Type": "application/json", "Retry-After": "0" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32000, message: "slow down" } }));
  });
  for (const era of [undefined, "modern"] as const) {
    probes = 0;
    await using client = await connect({ url: server.url }, { ...FAST, era });
    expect(client.era).toBe("modern");
  }
});

test("only declared kinds and modes of questions reach the handler (P1.2)", async () => {
  const asked: string[] = [];
  const server = new ScriptedServer({ era: "legacy" });
  await using client = await connect(
    server.transport,
    asking(({ method }) => {
      asked.push(method);
      return { action: "accept" };
    }),
  );
  await expect(server.request("elicitation/create", { mode: "url", url: "https://evil.example" })).rejects.toThrow(
    "does not answer",
  );
  await expect(server.request("sampling/createMessage", { messages: [], tools: [] })).rejects.toThrow(
    "does not answer",
  );
  await server.request("elicitation/create", { mode: "form", message: "?" });
  expect(asked).toEqual(["elicitation/create"]);
  await client.close();
});

test("of several calls on a pipe, a question goes to one that declared it and is not asked already", async () => {
  const server = new ScriptedServer({ era: "legacy", tools: { a: () => "a", b: () => "b", c: () => "c" } });
  const names: unknown[] = [];
  await using client = await connect(
    server.transport,
    asking((_request, { call }) => {
      names.push(call?.params?.["name"]);
      return new Promise<never>(() => {});
    }),
  );
  server.on("tools/call", () => undefined);
  const silent: InputProvider = { capabilities: {}, handle: () => ({ roots: [] }) };
  const calls = [client.callTool("a"), client.callTool("b"), client.callTool("c", {}, { input: silent })].map(failure);
  await server.receive("tools/call", 3);
  for (let index = 0; index < 2; index++) server.request("elicitation/create", { message: "?" }).catch(() => {});
  await expect.poll(() => names).toEqual(["b", "a"]);
  await client.close();
  await Promise.all(calls);
});

test("notify says when the server did not take it", async () => {
  await using client = await connect(stdioFixture());
  await failure(client.callTool("misbehave", { how: "die" }));
  expect(await failure(client.notify("notifications/x"))).toMatchObject({
    code: "SERVER_EXITED",
    details: { mayHaveReached: false },
  });
});

test("a command that only talks is shown with its own words", async () => {
  const talking = { command: "sh", args: ["-c", "while :; do echo hello world; sleep 0.05; done"] };
  // On a busy machine the first word may take longer than the first limit.
  for (let connectTimeoutMs = 300; ; connectTimeoutMs *= 4) {
    const { code, message } = await failure(connect(talking, { connectTimeoutMs, probeTimeoutMs: 50 }));
    expect(code).toBe("TIMEOUT");
    if (message.includes("hello world")) break;
    expect(connectTimeoutMs).toBeLessThan(20_000);
  }
  const exited = await failure(connect({ command: "sh", args: ["-c", "echo usage: foo; echo no key >&2; exit 2"] }));
  expect(exited).toMatchObject({ code: "SERVER_EXITED", details: { exitCode: 2 } });
  expect(exited.message).toBe(
    'The server exited with code 2: no key. The server printed text that is not JSON-RPC: "usage: foo"',
  );
});

test("a flood on stdout does not stop the clock", async () => {
  const error = await failure(connect({ command: "yes" }, { connectTimeoutMs: 500, probeTimeoutMs: 100 }));
  expect(error.code).toBe("TIMEOUT");
});

test("secrets of a wrong URL or a header stay out of errors, and a login in a URL is used", async () => {
  const wrong = await failure(connect({ url: "htps://user:SECRET@host/mcp?key=SECRET" }));
  expect(JSON.stringify([wrong, wrong.message])).not.toContain("SECRET");
  const header = await failure(connect({ url: "http://127.0.0.1:1/", headers: { "X-Key": "SECRET\nX: y" } }));
  expect(header.code).toBe("CONFIG_INVALID");
  expect(JSON.stringify([header, header.message])).not.toContain("SECRET");

  let authorization: string | undefined;
  await using server = await bareServer((message, response, { headers }) => {
    authorization = headers.authorization;
    answer(response, message, { resultType: "complete", tools: [] });
  });
  await using client = await connect({ url: server.url.replace("://", "://ada:p%40ss@") }, MODERN);
  await client.listTools();
  expect(authorization).toBe(`Basic ${Buffer.from("ada:p@ss").toString("base64")}`);
});

test("options that are undefined leave the entry's values alone", async () => {
  await using server = await bareServer(() => {});
  const entry = { id: "mine", url: server.url, timeout: "50ms" };
  await using client = await connect(entry, {
    ...MODERN,
    timeoutMs: undefined,
    server: undefined,
    retry: { maxRetries: undefined },
  });
  expect(await failure(client.callTool("x"))).toMatchObject({ code: "TIMEOUT", details: { server: "mine" } });
});

test("a ping whose answer the server does not take harms nobody", async () => {
  await using server = await bareServer((message, response, request) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (message.method === "initialize") return answer(response, message, INITIALIZED);
    if (message.method === "tools/call") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: "p", method: "ping" })}\n\n`);
      response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { content: [] } })}\n\n`);
      return;
    }
    response.writeHead(message.method ? 202 : 500).end();
  });
  await using client = await connect({ url: server.url }, LEGACY);
  expect(await client.callTool("x")).toEqual({ content: [] });
  await client.ping({ timeoutMs: 100 }).catch(() => {});
});

test("messages that are acknowledged with an open body let go of their sockets (N3)", async () => {
  await using server = await bareServer((_message, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(": taken\n\n");
  });
  await using client = await connect({ url: server.url }, MODERN);
  await Promise.all(Array.from({ length: 10 }, () => client.notify("notifications/x")));
  await expect.poll(() => server.sockets.size).toBe(0);
});

test("a server whose GET is not there is not taken for one that forgot the session (P1.8)", async () => {
  let sessions = 0;
  await using server = await bareServer((message, response, request) => {
    if (request.method === "GET") return void response.writeHead(404).end();
    if (message.method === "initialize")
      return answer(response, message, INITIALIZED, { "Mcp-Session-Id": `s${++sessions}` });
    if (message.method === "tools/call") return answer(response, message, { content: [] });
    response.writeHead(202).end();
  });
  await using client = await connect({ url: server.url }, LEGACY);
  for (let call = 0; call < 3; call++) await client.callTool("x");
  expect(sessions).toBe(1);
});

test("a stream that asks for an absurd pause does not cause a storm (R7)", async () => {
  let gets = 0;
  await using server = await bareServer((message, response, request) => {
    if (request.method === "GET") {
      gets++;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      return void response.end(`retry: 99999999999\nid: ${gets}\ndata: \n\n`);
    }
    if (message.method === "initialize") return answer(response, message, INITIALIZED);
    response.writeHead(202).end();
  });
  await using client = await connect({ url: server.url }, LEGACY);
  await expect.poll(() => gets).toBe(1);
  await client.ping({ timeoutMs: 100 }).catch(() => {});
  expect(gets).toBe(1);
});
