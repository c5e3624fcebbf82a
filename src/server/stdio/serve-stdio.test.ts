import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { McpServer } from "../features/mcp-server.ts";
import { serveStdio } from "./serve-stdio.ts";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const line = (message: Record<string, unknown>) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

test("on a pipe without a logger, what the client is not told is one line on stderr", async () => {
  const server = new McpServer({ name: "own", version: "1" });
  server.resource({ uri: "a://broken", name: "broken" }, () => {
    throw new Error("disk full");
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const params = { uri: "a://broken", _meta };
    input.end(line({ id: 1, method: "resources/read", params }));
    await serveStdio(server, { input, output });
    output.end();
    expect(await text(output)).toContain("The server failed to answer resources/read");
    expect(written.mock.calls.map(([line]) => line)).toEqual(["resources/read failed: disk full\n"]);
  } finally {
    written.mockRestore();
  }
});

test.each<[era: string, opening: string, params: Record<string, unknown>]>([
  ["modern", "", { uri: "a://broken", _meta }],
  ["legacy", line({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } }), { uri: "a://broken" }],
])("a logger that throws costs a %s client on a pipe nothing", async (_era, opening, params) => {
  const server = new McpServer({ name: "own", version: "1" });
  server.resource({ uri: "a://broken", name: "broken" }, () => {
    throw new Error("disk full");
  });
  const fail = () => {
    throw new Error("the log is full");
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.write(opening + line({ id: "nobody asked", result: {} }));
  input.end(line({ id: 1, method: "resources/read", params }));
  await serveStdio(server, { input, output, logger: { debug: fail, info: fail, warn: fail, error: fail } });
  output.end();
  expect(await text(output)).toContain("The server failed to answer resources/read");
});

test.each<[era: string, opening: string, params: Record<string, unknown>]>([
  ["modern", "", { _meta: { ..._meta, "io.modelcontextprotocol/logLevel": "debug", progressToken: 1 } }],
  [
    "legacy",
    line({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } }) +
      line({ id: 1, method: "logging/setLevel", params: { level: "debug" } }),
    { _meta: { progressToken: 1 } },
  ],
])("nothing of a call follows its answer to a %s client on a pipe", async (_era, opening, params) => {
  const server = new McpServer({ name: "own", version: "1" });
  let report = () => {};
  server.tool({ name: "late" }, (_args, { progress, log }) => {
    report = () => {
      progress({ progress: 1 });
      log("error", "late");
    };
    return "done";
  });
  server.tool({ name: "next" }, () => {
    report();
    return "next";
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(server, { input, output });
  input.write(opening + line({ id: 2, method: "tools/call", params: { name: "late", ...params } }));
  await vi.waitFor(() => expect(String(output.read() ?? "")).toContain("done"));
  input.end(line({ id: 3, method: "tools/call", params: { name: "next", ...params } }));
  await served;
  output.end();
  const said = await text(output);
  expect(said).toContain("next");
  expect(said).not.toContain("notifications/");
});

test("the input is left alone after the end, even if the client reads its answers only then", async () => {
  const server = new McpServer({ name: "own", version: "1" });
  server.tool({ name: "long" }, () => "x".repeat(100_000));
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const served = serveStdio(server, { input, output, signal: stop.signal });
  input.write(line({ id: 1, method: "tools/call", params: { name: "long", _meta } }));
  await vi.waitFor(() => expect(output.writableLength + output.readableLength).toBeGreaterThan(100_000));
  stop.abort();
  await served;
  const drained = once(output, "drain");
  output.resume();
  await drained;
  expect(input.isPaused()).toBe(true);
});

test("on a pipe a message with more values than allowed is refused with its id, and the next one is answered", async () => {
  const server = new McpServer({ name: "own", version: "1" });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const params = { items: Array.from({ length: 200_000 }, () => 1), _meta };
  input.write(line({ method: "tools/list", params, id: "many" }));
  input.end(line({ id: 2, method: "tools/list", params: { _meta } }));
  await serveStdio(server, { input, output });
  output.end();
  const [refused, answered] = (await text(output)).trim().split("\n");
  expect(JSON.parse(refused ?? "")).toEqual({
    jsonrpc: "2.0",
    id: "many",
    error: {
      code: -32600,
      message:
        "The message has more than 200000 values. Send it in smaller parts, or raise limits.jsonValues of the server",
      data: { code: "MESSAGE_TOO_LARGE", limit: { name: "jsonValues", max: 200_000 } },
    },
  });
  expect(JSON.parse(answered ?? "")).toMatchObject({ id: 2, result: { tools: [] } });
});
