import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { serveStdio } from "../../../src/server/stdio/serve-stdio.ts";
import { META } from "../../../src/protocol/meta.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { BareEndpoint } from "../../fixtures/gateway/bare-endpoint.ts";
import { StandInCore } from "./legacy-stand-in.ts";

const MODERN = { [META.protocolVersion]: "2026-07-28", [META.clientCapabilities]: {} };
const FORM = {
  method: "elicitation/create",
  params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } },
};

/** One client on a pair of pipes. */
function openPipe(options: { maxLineBytes?: number; drainMs?: number } = {}) {
  const core = new StandInCore();
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const endpoint = new BareEndpoint(core);
  const served = serveStdio({ core: endpoint }, { input, output, signal: stop.signal, ...options });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  return {
    core,
    input,
    output,
    stop,
    served,
    tell: (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    next: async () => JSON.parse((await lines.next()).value as string) as WireMessage,
  };
}

function initialize(protocolVersion: string, capabilities: object = {}) {
  return { id: "init", method: "initialize", params: { protocolVersion, capabilities, clientInfo: {} } };
}

test("a legacy client has a session on its pipe, with questions, changes and cancelling", async () => {
  const { core, tell, next, input, served } = openPipe();
  tell({ id: 0, method: "ping" });
  expect(await next()).toMatchObject({ id: 0, result: {} });
  tell(initialize("2025-06-18", { elicitation: {} }));
  expect(await next()).toMatchObject({ id: "init", result: { protocolVersion: "2025-06-18" } });
  tell({ method: "notifications/initialized" });
  await expect.poll(() => core.listenings.size).toBe(1);
  core.change({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  expect(await next()).toMatchObject({ method: "notifications/tools/list_changed" });

  tell({ id: 1, method: "tools/call", params: { name: "ask", arguments: { questions: [FORM] } } });
  const question = await next();
  expect(question).toMatchObject({ method: "elicitation/create" });
  expect(question.params).not.toHaveProperty("mode");
  tell({ id: question.id, result: { action: "decline" } });
  expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: '[{"action":"decline"}]' }] } });

  tell({ id: 2, method: "tools/call", params: { name: "ask", arguments: { questions: [FORM] } } });
  const withdrawn = await next();
  tell({ method: "notifications/cancelled", params: { requestId: 2 } });
  expect(await next()).toMatchObject({ method: "notifications/cancelled", params: { requestId: withdrawn.id } });
  tell({ id: 3, method: "ping" });
  expect(await next()).toMatchObject({ id: 3 });
  input.end();
  await served;
  expect(core.released).toEqual([core.exchanges[0]?.caller.owner]);
  expect(core.listenings.size).toBe(0);
});

test("a legacy client need not wait for the answer to initialize: what it says meanwhile comes after it, in order", async () => {
  const { core, tell, next, input, served } = openPipe();
  tell(initialize("2025-11-25"));
  tell({ method: "notifications/initialized" });
  tell({ id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "early" } } });
  tell({ id: 2, method: "tools/call", params: { name: "wait" } });
  tell({ method: "notifications/cancelled", params: { requestId: 2 } });
  tell({ id: "init-2", method: "initialize", params: {} });
  expect(await next()).toMatchObject({ id: "init-2", error: { code: -32600 } });
  expect(await next()).toMatchObject({ id: "init", result: { protocolVersion: "2025-11-25" } });
  expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: "early" }] } });
  expect(core.listenings.size).toBe(1);
  input.end();
  await served;
  expect(core.exchanges.map(({ signal }) => signal.aborted)).toEqual([false, true]);
});

test("a modern client is served from what each request carries", async () => {
  const { core, tell, next, input, served } = openPipe();
  tell({ id: 1, method: "server/discover", params: { _meta: MODERN } });
  expect(await next()).toMatchObject({ id: 1, result: { supportedVersions: ["2026-07-28"], resultType: "complete" } });
  const params = { name: "report", _meta: { ...MODERN, progressToken: 4 } };
  tell({ id: 2, method: "tools/call", params });
  expect(await next()).toMatchObject({ method: "notifications/progress", params: { progress: 1 } });
  const rest = [await next(), await next(), await next(), await next()];
  expect(rest.at(-1)).toMatchObject({ id: 2, result: { resultType: "complete" } });
  tell({ id: 3, method: "tools/list" });
  expect(await next()).toMatchObject({ id: 3, error: { code: -32602 } });
  tell({ id: 4, method: "tools/call", params: { name: "wait", _meta: MODERN } });
  await expect.poll(() => core.exchanges.length).toBe(2);
  tell({ method: "notifications/cancelled", params: { requestId: 4 } });
  tell({ id: 5, method: "ping", params: { _meta: MODERN } });
  expect(await next()).toMatchObject({ id: 5, error: { code: -32601 } });
  expect(core.exchanges[1]?.signal.aborted).toBe(true);
  input.end();
  await served;
});

test("a subscription of a modern client ends with the pipe, and is cancelled by a notification", async () => {
  const { core, tell, next, input, served } = openPipe();
  const params = { notifications: { toolsListChanged: true }, _meta: MODERN };
  tell({ id: "s", method: "subscriptions/listen", params });
  expect(await next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  core.change({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  expect(await next()).toMatchObject({ params: { _meta: { [META.subscriptionId]: "s" } } });
  tell({ method: "notifications/cancelled", params: { requestId: "s" } });
  await expect.poll(() => core.listenings.size).toBe(0);
  tell({ id: "t", method: "subscriptions/listen", params });
  expect(await next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  input.end();
  await served;
  expect(core.listenings.size).toBe(0);
});

test("a message goes by its own rules, whatever the pipe began with", async () => {
  const { tell, next, input, served } = openPipe();
  tell({ id: 1, method: "server/discover", params: { _meta: MODERN } });
  expect(await next()).toMatchObject({ id: 1, result: {} });
  tell({ ...initialize("2025-11-25"), id: 2 });
  expect(await next()).toMatchObject({ id: 2, result: { protocolVersion: "2025-11-25" } });
  tell({ id: 3, method: "tools/call", params: { name: "echo", arguments: { text: "old" } } });
  expect((await next()).result).toEqual({ content: [{ type: "text", text: "old" }] });
  tell({ id: 4, method: "tools/call", params: { name: "echo", arguments: { text: "new" }, _meta: MODERN } });
  expect((await next()).result).toMatchObject({ resultType: "complete" });
  tell({ id: 5, method: "initialize", params: { protocolVersion: "2025-11-25", _meta: MODERN } });
  expect(await next()).toMatchObject({ id: 5, error: { code: -32601 } });
  input.end();
  await served;
});

test("what cannot be read is refused, and the pipe goes on", async () => {
  const { tell, next, input, served } = openPipe({ maxLineBytes: 200 });
  input.write("\n  \nnot json\n");
  expect(await next()).toEqual({ jsonrpc: "2.0", error: { code: -32700, message: expect.any(String) as string } });
  input.write('{"id":7}\n');
  expect(await next()).toMatchObject({ id: 7, error: { code: -32600 } });
  tell({ id: 6, method: "tools/list", params: null });
  expect(await next()).toMatchObject({ id: 6, error: { code: -32600 } });
  input.write("[]\n");
  expect(await next()).toMatchObject({ error: { code: -32600 } });
  tell({ method: "tools/call", params: { name: "echo", text: "x".repeat(500) }, id: "long" });
  expect(await next()).toMatchObject({ id: "long", error: { code: -32600 } });
  tell({ id: 8, method: "tools/list" });
  expect(await next()).toMatchObject({ id: 8, error: { code: -32600 } });
  tell({ id: 9, method: "ping" });
  expect(await next()).toMatchObject({ id: 9, result: {} });
  input.end();
  await served;
});

test("batches are for 2025-03-26", async () => {
  const { tell, next, input, served } = openPipe();
  const batch = [
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo", arguments: { text: "a" } } },
  ];
  tell(initialize("2025-03-26"));
  await next();
  input.write(`${JSON.stringify(batch)}\n`);
  expect(await next()).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: {} },
  ]);
  input.end();
  await served;
});

test("when the input ends, what is in flight is finished first; the last line needs no newline", async () => {
  const { core, tell, next, input, served } = openPipe();
  tell(initialize("2025-11-25"));
  await next();
  tell({ id: 1, method: "tools/call", params: { name: "wait" } });
  input.end('{"jsonrpc":"2.0","id":2,"method":"ping"}');
  expect(await next()).toMatchObject({ id: 2, result: {} });
  core.letGo();
  expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } });
  await served;
});

test("what does not finish in time after the end of the input is cancelled", async () => {
  const { core, tell, next, input, served } = openPipe({ drainMs: 10 });
  tell(initialize("2025-11-25"));
  await next();
  tell({ id: 1, method: "tools/call", params: { name: "wait" } });
  tell({ id: 2, method: "tools/call", params: { name: "wait", _meta: MODERN } });
  input.end();
  await served;
  expect(core.exchanges.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(core.released).toHaveLength(1);
});

test.each(["signal", "reader"])("the %s ends it at once", async (which) => {
  const { core, tell, next, stop, output, served } = openPipe();
  tell(initialize("2025-11-25"));
  await next();
  tell({ id: 1, method: "tools/call", params: { name: "wait" } });
  await expect.poll(() => core.exchanges.length).toBe(1);
  if (which === "signal") stop.abort();
  else output.destroy();
  await served;
  expect(core.exchanges[0]?.signal.aborted).toBe(true);
  expect(core.released).toHaveLength(1);
});

test("a client that does not read is not listened to until it does", async () => {
  const core = new StandInCore();
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 10 })];
  const { signal } = new AbortController();
  const served = serveStdio({ core: new BareEndpoint(core) }, { input, output, signal });
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await expect.poll(() => input.isPaused()).toBe(true);
  input.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
  output.resume();
  await expect.poll(() => input.isPaused()).toBe(false);
  input.end();
  await served;
});

test.each(["2025-11-25", "2026-07-28"])(
  "a result is written a turn after its last progress, and at once where there was none (%s)",
  async (version) => {
    const { tell, next, input, output, served } = openPipe();
    const isModern = version === "2026-07-28";
    if (!isModern) {
      tell(initialize(version));
      await next();
    }
    const written: string[] = [];
    output.on("data", (chunk: Buffer) => {
      if (chunk.includes("notifications/message")) return;
      written.push(chunk.includes("notifications/progress") ? "progress" : "result");
      setImmediate(() => written.push("turn"));
    });
    const call = (name: string, meta: object) => {
      const params = { name, _meta: isModern ? { ...MODERN, ...meta } : meta };
      tell({ id: name, method: "tools/call", params });
    };
    call("report", { progressToken: 1 });
    await expect.poll(() => written.filter((each) => each === "result")).toHaveLength(1);
    const steps = written.slice(0, written.indexOf("result"));
    expect(steps.slice(0, steps.lastIndexOf("progress") + 1)).toEqual(["progress", "progress"]);
    expect(steps.at(-1)).toBe("turn");

    written.length = 0;
    call("echo", {});
    setImmediate(() => written.push("next turn"));
    await expect.poll(() => written).toContain("next turn");
    expect(written[0]).toBe("result");
    input.end();
    await served;
  },
);
