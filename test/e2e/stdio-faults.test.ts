import { expect, test } from "vitest";
import { connect, type ConnectOptions } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { isRunning } from "../fixtures/processes.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const LEGACY = { protocolVersion: "2025-11-25" };

function open(flags: readonly string[] = [], options: ConnectOptions = {}) {
  return connect({ id: "fixture", ...stdioFixture(flags) }, options);
}

test("lines that are no JSON are skipped and reported, and decide nothing (N2)", async () => {
  const warnings: unknown[] = [];
  const logger = { debug() {}, info() {}, warn: (_: string, data?: unknown) => warnings.push(data), error() {} };
  await using client = await open(["--misbehave", "noise"], { logger });
  expect(client.era).toBe("modern");
  expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
  expect(warnings).toContainEqual({ excerpt: "Listening… [not JSON]" });
});

test("lines may end in CRLF (P2.0)", async () => {
  await using client = await open(["--misbehave", "crlf"]);
  expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
});

test.each(["first", "last"])(
  "a line over 10 MB fails its call alone, wherever its id stands: %s (N2, R8)",
  async (idPosition) => {
    await using client = await open();
    const other = client.callTool("sleep", { ms: 600 });
    const error = await failure(client.callTool("misbehave", { how: "long_line", bytes: 11_000_000, idPosition }));
    expect(error).toMatchObject({ code: "MESSAGE_TOO_LARGE", details: { server: "fixture", mayHaveReached: true } });
    expect(await other).toMatchObject({ content: [{ type: "text" }] });
    expect(await client.callTool("echo", { text: "alive" })).toMatchObject({ content: [{ text: "alive" }] });
  },
);

test("an answer with very many values fails its call alone, before it is parsed (N2, R8)", async () => {
  const script = `
    let later;
    const results = {
      lists: "[" + "[],".repeat(1_100_000) + "[]]",
      members: "{" + Array.from({ length: 60_000 }, (_, at) => '"m' + at + '":0').join(",") + "}",
      many: "[" + "[],".repeat(900_000) + "[]]",
    };
    process.stdin.on("data", (chunk) => String(chunk).trim().split("\\n").forEach((line) => {
      const { id, method } = JSON.parse(line);
      const answer = (result) => process.stdout.write('{"jsonrpc":"2.0","result":' + result + ',"id":' + JSON.stringify(id) + "}\\n");
      if (method === "initialize") answer(JSON.stringify({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }));
      else if (method in results) answer('{"x":' + results[method] + "}");
      else if (method === "later") later = () => answer("{}");
      else if (method === "short") later(answer("{}"));
    }));`;
  await using client = await connect({ command: process.execPath, args: ["-e", script] }, LEGACY);
  const other = client.request("later");
  for (const [method, most] of [
    ["lists", "1048576 values"],
    ["members", "52428 members in one object"],
  ] as const) {
    expect(await failure(client.request(method))).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
      message: `The server sent a message with more than ${most}`,
    });
  }
  expect(await client.request("many")).toMatchObject({ x: { length: 900_001 } });
  expect([await client.request("short"), await other]).toEqual([{}, {}]);
});

test("a notification over 10 MB is dropped and harms no call (R8)", async () => {
  await using client = await open();
  const answer = await client.callTool("misbehave", { how: "long_line", bytes: 11_000_000, idPosition: "none" });
  expect(answer).toMatchObject({ content: [{ text: "Sent a long line." }] });
});

test("an overlong line without a readable id fails all calls in flight, and the connection lives (R8)", async () => {
  const script = `
    process.stdin.on("data", (chunk) => String(chunk).trim().split("\\n").forEach((line) => {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
      if (method === "initialize") answer({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } });
      if (method === "long") process.stdout.write("x".repeat(2000) + "\\n");
      if (method === "short") answer({ ok: true });
    }));`;
  await using client = await connect(
    { command: process.execPath, args: ["-e", script] },
    { ...LEGACY, maxMessageBytes: 1_000 },
  );
  const waiting = failure(client.request("silent"));
  expect(await failure(client.request("long"))).toMatchObject({ code: "MESSAGE_TOO_LARGE" });
  expect(await waiting).toMatchObject({ code: "MESSAGE_TOO_LARGE" });
  expect(await client.request("short")).toEqual({ ok: true });
});

test("100,000 notifications between a request and its answer all arrive, in order (R8)", async () => {
  await using client = await open([], LEGACY);
  await client.setLogLevel("debug");
  let count = 0;
  let ordered = true;
  client.onNotification(({ method, params }) => {
    if (method === "notifications/message") ordered &&= params?.["data"] === `notification ${count++}`;
  });
  await client.callTool("misbehave", { how: "notifications", count: 100_000 });
  expect({ count, ordered }).toEqual({ count: 100_000, ordered: true });
});

test.each([
  ["duplicate_answer", "first"],
  ["unknown_id", "for you"],
  ["split_character", "before 🦜 after"],
  ["broken_utf8", "broken: \uFFFD("],
])("%s does no harm (N5)", async (how, text) => {
  await using client = await open();
  expect(await client.callTool("misbehave", { how })).toMatchObject({ content: [{ text }] });
  expect(await client.callTool("echo", { text: "next" })).toMatchObject({ content: [{ text: "next" }] });
});

test("very deep JSON is an error of its own call, and the connection lives on (R8)", async () => {
  await using client = await open();
  const deep = await failure(client.callTool("misbehave", { how: "deep_json", depth: 200_000 }));
  expect(deep).toMatchObject({ code: "PROTOCOL_VIOLATION", details: { mayHaveReached: true } });
  expect(await client.callTool("echo", { text: "next" })).toMatchObject({ content: [{ text: "next" }] });
});

test.each(["2026-07-28", "2025-11-25"])(
  "an answer after cancellation is dropped, in %s (N5, R6)",
  async (protocolVersion) => {
    await using client = await open([], { protocolVersion });
    const abort = new AbortController();
    const call = client.callTool("misbehave", { how: "answer_after_cancel" }, { signal: abort.signal });
    await client.callTool("echo", { text: "it is under way" });
    abort.abort();
    expect(await failure(call)).toMatchObject({ code: "CANCELLED", details: { mayHaveReached: true } });
    expect(await client.callTool("echo", { text: "next" })).toMatchObject({ content: [{ text: "next" }] });
  },
);

test("a server that never answers the handshake is given up on in time, and ended", async () => {
  const error = await failure(open(["--misbehave", "silent"], { connectTimeoutMs: 400, probeTimeoutMs: 100 }));
  expect(error).toMatchObject({ code: "TIMEOUT", details: { phase: "handshake", server: "fixture" } });
});

test("a call that never ends is timed out and cancelled at the server (N5)", async () => {
  await using client = await open();
  const error = await failure(client.callTool("sleep", { ms: 60_000 }, { timeoutMs: 100 }));
  expect(error).toMatchObject({ code: "TIMEOUT", details: { server: "fixture", method: "tools/call" } });
  const { content } = await client.callTool("recorded_cancellations");
  expect(content[0]?.text).not.toBe("[]");
});

test("a server that dies during the start is reported with its exit code and last words", async () => {
  const error = await failure(open(["--misbehave", "die-at-start"]));
  expect(error).toMatchObject({
    code: "SERVER_EXITED",
    details: {
      exitCode: 3,
      phase: "handshake",
      server: "fixture",
      stderr: ["everything: cannot open the database", "everything: giving up"],
    },
  });
  expect(error.details.command).toContain("everything.cjs --misbehave die-at-start");
});

test.each([
  ["die", { code: 7 }, { exitCode: 7 }],
  ["die_by_signal", {}, { signal: "SIGKILL" }],
])("a server that dies mid-call fails it at once, and later calls too: %s", async (how, args, details) => {
  await using client = await open();
  const error = await failure(client.callTool("misbehave", { how, ...args }));
  expect(error).toMatchObject({ code: "SERVER_EXITED", details: { ...details, mayHaveReached: true } });
  expect(await client.closed).toMatchObject({ kind: "exited", ...details });
  expect(await failure(client.callTool("echo", { text: "x" }))).toMatchObject({
    code: "SERVER_EXITED",
    details: { mayHaveReached: false },
  });
});

test("a server that closes stdout only is noticed and ended", async () => {
  await using client = await open();
  const { pid } = client;
  const error = await failure(client.callTool("misbehave", { how: "close_stdout" }));
  expect(error.code).toBe("CONNECTION_LOST");
  await client.close();
  expect(isRunning(pid ?? 0)).toBe(false);
});

test("a server that ignores the end of stdin and SIGTERM is killed", async () => {
  const client = await open(["--misbehave", "ignore-stdin-end"]);
  await client.close();
  expect(isRunning(client.pid ?? 0)).toBe(false);
});

test.each(["close", "crash"])("a grandchild does not outlive its server: %s (R8)", async (end) => {
  const client = await open(["--misbehave", "grandchild"]);
  const pid = Number(/grandchild (\d+)/.exec(client.stderr.join("\n"))?.[1]);
  expect(isRunning(pid)).toBe(true);
  if (end === "crash") await failure(client.callTool("misbehave", { how: "die" }));
  await client.close();
  expect(isRunning(pid)).toBe(false);
});

test("a flood on stderr blocks nothing, and only its last lines are kept (N2)", async () => {
  await using client = await open(["--misbehave", "flood-stderr"]);
  expect(await client.callTool("echo", { text: "through" })).toMatchObject({ content: [{ text: "through" }] });
  expect(client.stderr.length).toBeGreaterThan(0);
  expect(client.stderr.length).toBeLessThanOrEqual(51);
});

test("a command that does not exist, cannot be run, or has no folder says so", async () => {
  expect(await failure(connect({ command: "nexus-no-such-command" }))).toMatchObject({
    code: "COMMAND_NOT_FOUND",
    details: { hint: expect.stringContaining("full path") as string, mayHaveReached: false },
  });
  expect(await failure(connect({ command: "./package.json" }))).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await failure(connect({ command: process.execPath, cwd: "/no/such/folder" }))).toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("/no/such/folder") as string,
  });
});

test("an aborted start leaves nothing running", async () => {
  const abort = new AbortController();
  const opening = failure(open(["--misbehave", "silent"], { signal: abort.signal, probeTimeoutMs: 50 }));
  abort.abort();
  expect((await opening).code).toBe("CANCELLED");
});

test("a child gets the folder and variables of its entry, and no others (N2, R8)", async () => {
  const script = `process.stdin.once("data", () => {
    const { cwd, env } = { cwd: process.cwd(), env: process.env };
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { protocolVersion: "2025-11-25", capabilities: {},
      serverInfo: { name: "s", version: "1" }, instructions: JSON.stringify({ cwd, env }) } }) + "\\n");
  })`;
  process.env["NEXUS_TEST_SECRET"] = "s";
  process.env["NEXUS_TEST_PASSED"] = "p";
  try {
    const entry = {
      command: [process.execPath, "-e", script],
      cwd: "/",
      env: { OWN: "1" },
      env_passthrough: ["NEXUS_TEST_PASSED"],
    };
    await using client = await connect(entry, LEGACY);
    const { cwd, env } = JSON.parse(client.instructions ?? "") as { cwd: string; env: Record<string, string> };
    expect(cwd).toBe("/");
    expect(env).toMatchObject({ OWN: "1", NEXUS_TEST_PASSED: "p" });
    expect(env).not.toHaveProperty("NEXUS_TEST_SECRET");
  } finally {
    delete process.env["NEXUS_TEST_SECRET"];
    delete process.env["NEXUS_TEST_PASSED"];
  }
});
