import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect as connectSocket, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { connect, type ConnectOptions } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { selfSigned } from "../fixtures/self-signed.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";

const FAST: ConnectOptions = { retry: { backoffMs: 1 } };
const ERAS = ["2026-07-28", "2025-11-25"];

async function listen(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<{ id: number; method: string }> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as { id: number; method: string };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

test("a port where nothing listens is named, with what to do", async () => {
  const { url } = await (async () => {
    await using closed = await listen(() => {});
    return closed;
  })();
  const error = await failure(connect({ id: "web", url }, FAST));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", details: { server: "web", url, mayHaveReached: false } });
  expect(error.message).toContain("Nothing is listening at http://127.0.0.1:");
  expect(error.hint).toContain("Start the server");
});

test("a host that does not exist is named", async () => {
  const error = await failure(connect({ url: "http://no-such-host.invalid/mcp" }, FAST));
  expect(error).toMatchObject({ code: "CONNECTION_FAILED", message: expect.stringContaining("resolved") as string });
});

test.each(ERAS)(
  "broken answers fail their call at once and leave the connection usable, in %s (N3)",
  async (protocolVersion) => {
    await using server = await startHttpFixture();
    await using client = await connect({ url: server.url }, { ...FAST, protocolVersion });
    const misbehave = (how: string) => failure(client.callTool("misbehave", { how }));

    expect(await misbehave("reset_mid_body")).toMatchObject({
      code: "CONNECTION_LOST",
      details: { mayHaveReached: true },
    });
    expect(await misbehave("wrong_content_type")).toMatchObject({
      code: "NOT_MCP",
      message: expect.stringContaining("text/html") as string,
    });
    expect(await misbehave("empty_200")).toMatchObject({ code: "CONNECTION_LOST" });
    expect(await misbehave("stream_end_without_answer")).toMatchObject({ code: "CONNECTION_LOST" });
    expect(await client.callTool("echo", { text: "alive" })).toMatchObject({ content: [{ text: "alive" }] });
  },
);

test.each(ERAS)(
  "an endless stream ends with the call's time, and the server sees the client leave, in %s",
  async (protocolVersion) => {
    await using server = await startHttpFixture();
    await using client = await connect({ url: server.url }, { protocolVersion });
    const error = await failure(client.callTool("misbehave", { how: "endless_stream" }, { timeoutMs: 150 }));
    expect(error.code).toBe("TIMEOUT");
    await expect.poll(() => server.observations.leftStreams).toBe(1);
  },
);

test.each(ERAS)(
  "events are read whatever their line ends and however they are cut, in %s (G7)",
  async (protocolVersion) => {
    await using server = await startHttpFixture();
    await using client = await connect({ url: server.url }, { protocolVersion });
    const notices: unknown[] = [];
    client.onNotification(({ params }) => notices.push(params?.["data"]));
    const result = await client.callTool("misbehave", { how: "split_sse" });
    expect(result).toMatchObject({ content: [{ text: "put together again 🦜" }] });
    expect(notices).toEqual(["naïve 🦜", "naïve 🦜"]);
  },
);

test.each(ERAS)("stray and repeated answers are dropped, in %s (N5)", async (protocolVersion) => {
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url }, { protocolVersion });
  expect(await client.callTool("misbehave", { how: "duplicate_answer" })).toMatchObject({
    content: [{ text: "first" }],
  });
  expect(await client.callTool("misbehave", { how: "unknown_id" })).toMatchObject({ content: [{ text: "for you" }] });
});

test("a session that the server forgot is renewed once, for calls at the same time too (P1.8)", async () => {
  await using server = await startHttpFixture({ revision: "2025-11-25" });
  await using client = await connect({ url: server.url });
  expect(client.protocolVersion).toBe("2025-11-25");
  server.forgetSessions();
  const calls = await Promise.all(["a", "b", "c"].map((text) => client.callTool("echo", { text })));
  expect(calls.map(({ content }) => content[0]?.text)).toEqual(["a", "b", "c"]);
  const handshakes = server.transcript
    .messages("in")
    .filter((message) => (message as { method?: string }).method === "initialize");
  expect(handshakes).toHaveLength(2);
});

test("a session that is forgotten again and again is an error, not a loop (P1.8)", async () => {
  await using server = await listen((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    void bodyOf(request).then(({ id, method }) => {
      if (method === "tools/call") return void response.writeHead(404).end();
      if (method === "notifications/initialized") return void response.writeHead(202).end();
      response.setHeader("Mcp-Session-Id", "s");
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      };
      json(response, 200, { jsonrpc: "2.0", id, result });
    });
  });
  await using client = await connect({ url: server.url }, { ...FAST, protocolVersion: "2025-11-25" });
  expect(await failure(client.callTool("x"))).toMatchObject({ code: "HTTP_STATUS", details: { status: 404 } });
});

test.each([0, "date"])("429 is waited out as Retry-After says: %s (P1.10)", async (retryAfter) => {
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url }, FAST);
  const started = Date.now();
  const args = { how: "status", key: String(retryAfter), code: 429, times: 1, retryAfter };
  expect(await client.callTool("misbehave", args)).toMatchObject({ content: [{ text: "Worked at attempt 2." }] });
  // A date has whole seconds: one second from now is at least a few milliseconds away.
  if (retryAfter === "date") expect(Date.now() - started).toBeGreaterThan(1);
});

test("a Retry-After beyond the call's time is not waited for (P1.10)", async () => {
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url }, FAST);
  const args = { how: "status", key: "long", code: 429, times: 1, retryAfter: 3_600 };
  expect(await failure(client.callTool("misbehave", args))).toMatchObject({
    code: "HTTP_STATUS",
    details: { status: 429, retryAfterMs: 3_600_000 },
  });
});

test("a call that may have run is never repeated (P1.10)", async () => {
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url }, FAST);
  for (const code of [500, 502, 503, 504]) {
    const args = { how: "status", key: String(code), code, times: 1 };
    expect(await failure(client.callTool("misbehave", args))).toMatchObject({
      details: { status: code, mayHaveReached: true },
    });
    expect(server.observations.attempts.get(String(code))).toBe(1);
  }
});

test("a redirect within the origin is followed, one that leads elsewhere is refused (R8)", async () => {
  await using elsewhere = await listen((_, response) => json(response, 200, {}));
  let reached = 0;
  elsewhere.server.on("request", () => reached++);
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url }, FAST);
  const found = await client.callTool("misbehave", { how: "redirect_same_origin" });
  expect(found).toMatchObject({ content: [{ text: "Found at the new address." }] });

  const error = await failure(client.callTool("misbehave", { how: "redirect_elsewhere", target: elsewhere.url }));
  expect(error).toMatchObject({
    code: "REDIRECT_REFUSED",
    message: expect.stringContaining(new URL(elsewhere.url).origin) as string,
  });
  expect(reached).toBe(0);
});

test("an answer over the limit fails its call alone (R8)", async () => {
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url }, { maxMessageBytes: 100_000 });
  for (const how of ["huge", "huge"]) {
    expect(await failure(client.callTool("misbehave", { how, bytes: 200_000 }))).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
    });
  }
  expect(await client.callTool("misbehave", { how: "huge", bytes: 50_000 })).toMatchObject({
    content: [{ type: "text" }],
  });
});

test.each(["application/json", "text/event-stream"])(
  "an answer with very many values fails its call alone: %s (R8)",
  async (type) => {
    const results = {
      initialize: JSON.stringify({
        protocolVersion: "2025-11-25",
        capabilities: {},
        serverInfo: { name: "s", version: "1" },
      }),
      crowded: `{"x":[${"[],".repeat(1_100_000)}[]]}`,
      short: "{}",
    };
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const { id, method } = await bodyOf(request);
      const result = results[method as keyof typeof results];
      if (result === undefined) return void response.writeHead(202).end();
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
      response.writeHead(200, { "Content-Type": type }).end(type === "application/json" ? text : `data: ${text}\n\n`);
    };
    await using server = await listen((request, response) => {
      if (request.method === "POST") void answer(request, response);
      else response.writeHead(405).end();
    });
    await using client = await connect({ url: server.url }, { ...FAST, protocolVersion: "2025-11-25" });
    expect(await failure(client.request("crowded"))).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
      message: "The server sent a message with more than 1048576 values",
      details: { mayHaveReached: true },
    });
    expect(await client.request("short")).toEqual({});
  },
);

test("the guard refuses an address inside, by number and by name, unless it is allowed (R8)", async () => {
  await using server = await startHttpFixture();
  const byName = server.url.replace("127.0.0.1", "localhost");
  for (const url of [server.url, byName]) {
    expect(await failure(connect({ url }, { ...FAST, publicOnly: true }))).toMatchObject({ code: "ADDRESS_REFUSED" });
  }
  await using client = await connect({ url: server.url }, { publicOnly: { allow: ["127.0.0.1"] } });
  expect(await client.listTools()).not.toHaveLength(0);
});

test("a proxy from the environment is used, and NO_PROXY respected (N3)", async () => {
  await using server = await startHttpFixture();
  await using proxy = await listen(() => {});
  const tunnels: string[] = [];
  proxy.server.on("connect", (request, socket, head) => {
    tunnels.push(request.url ?? "");
    const { hostname, port } = new URL(`http://${request.url ?? ""}`);
    const upstream = connectSocket(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  const before = { ...process.env };
  try {
    process.env["HTTP_PROXY"] = proxy.url;
    process.env["NO_PROXY"] = "";
    await using client = await connect({ url: server.url });
    expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
    expect(tunnels).toContain(new URL(server.url).host);

    tunnels.length = 0;
    process.env["NO_PROXY"] = "127.0.0.1";
    await using direct = await connect({ url: server.url });
    expect(await direct.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
    expect(tunnels).toEqual([]);
  } finally {
    for (const name of ["HTTP_PROXY", "NO_PROXY"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test("headers of the entry are sent, and secrets in the URL stay out of errors (N3, R8)", async () => {
  await using server = await startHttpFixture();
  await using client = await connect({ url: server.url, headers: { "X-Own": "yes" } });
  await client.callTool("echo", { text: "hi" });
  const posts = server.transcript.entries.filter(({ method }) => method === "POST");
  expect(posts.length).toBeGreaterThan(0);
  for (const post of posts) expect(post.headers).toMatchObject({ "x-own": "yes" });

  const error = await failure(connect({ url: "http://user:pw@127.0.0.1:1/mcp?key=secret" }, FAST));
  expect(JSON.stringify(error)).not.toMatch(/pw|secret/);
  expect(error.details.url).toBe("http://127.0.0.1:1/mcp?…");
});

test("an answer that is no message says so, and shows what came", async () => {
  await using server = await listen((_, response) => json(response, 200, { status: "ok" }));
  await using client = await connect({ url: server.url }, { protocolVersion: "2026-07-28" });
  expect(await failure(client.listTools())).toMatchObject({ code: "NOT_MCP", details: { raw: '{"status":"ok"}' } });
});

test.each([{ result: null }, { result: "text" }, { error: "text" }, {}])(
  "the malformed answer %j fails its call at once",
  async (answer) => {
    await using server = await listen((request, response) => {
      void bodyOf(request).then(({ id }) => json(response, 200, { jsonrpc: "2.0", id, ...answer }));
    });
    await using client = await connect({ url: server.url }, { protocolVersion: "2026-07-28" });
    expect(await failure(client.callTool("x"))).toMatchObject({ code: "PROTOCOL_VIOLATION", details: { raw: answer } });
  },
);

test("certificates of an own authority are trusted when it is given, and only then (N3)", async () => {
  const identity = await selfSigned();
  if (!identity) return console.log("not tried: there is no openssl to make a certificate with");
  const { key, cert } = identity;
  const server = createSecureServer({ key, cert }, (request, response) => {
    void bodyOf(request).then(({ id }) =>
      json(response, 200, { jsonrpc: "2.0", id, result: { resultType: "complete", tools: [] } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}/mcp`;
  try {
    await using trusting = await connect({ url }, { protocolVersion: "2026-07-28", ca: [cert] });
    expect(await trusting.listTools()).toEqual([]);
    await using wary = await connect({ url }, { ...FAST, protocolVersion: "2026-07-28" });
    const error = await failure(wary.listTools());
    expect(error).toMatchObject({
      code: "CONNECTION_FAILED",
      hint: expect.stringContaining("NODE_EXTRA_CA_CERTS") as string,
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
