import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { trace, type Context, type Span, type SpanContext, type SpanOptions } from "@opentelemetry/api";
import { afterEach, expect, test } from "vitest";
import { Gateway, type AuditRecord } from "../../src/gateway/index.ts";
import { Host } from "../../src/index.ts";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

interface Kept extends SpanOptions {
  name: string;
  parent: SpanContext | undefined;
  context: SpanContext;
  isError: boolean;
  isEnded: boolean;
}

/** A tracer that keeps what it is told, registered as a program registers an SDK. */
function registerTracer(): Kept[] {
  const spans: Kept[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, context?: Context): Span => {
    const parent = context && trace.getSpanContext(context);
    const id = (spans.length + 1).toString(16);
    const traceId = parent?.traceId ?? id.padStart(32, "a");
    const kept: Kept = {
      ...options,
      attributes: { ...options.attributes },
      name,
      parent,
      context: { traceId, spanId: id.padStart(16, "b"), traceFlags: 1 },
      isError: false,
      isEnded: false,
    };
    spans.push(kept);
    const span = {
      spanContext: () => kept.context,
      setAttribute: (key: string, value: string) => ((kept.attributes ??= {})[key] = value),
      setStatus: () => (kept.isError = true),
      end: () => (kept.isEnded = true),
    };
    return span as unknown as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
  return spans;
}

afterEach(() => trace.disable());

test("a traced call has a span at the edge, below the caller's, and one for the request to the server", async () => {
  const spans = registerTracer();
  const records: AuditRecord[] = [];
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  const host = await Host.open({ servers: { up: { url: server.url } } });
  await using gateway = await Gateway.open({ host, port: 0, audit: (record) => void records.push(record) });
  await gateway.ready();
  const call = (name: string, headers: Record<string, string>) =>
    send(gateway.url, modern("tools/call", { name, arguments: { text: "secret words" } }, { headers }));
  await call("up__echo", { traceparent: TRACEPARENT });
  const [edge, upstream] = spans;
  expect(edge).toMatchObject({
    name: "tools/call up__echo",
    kind: 1,
    parent: { traceId: TRACE_ID, spanId: "b7ad6b7169203331", isRemote: true },
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "up__echo",
      "nexus.server": "up",
      "nexus.tenant": "default",
      "nexus.correlation_id": TRACE_ID,
      "nexus.outcome": "ok",
    },
    isError: false,
    isEnded: true,
  });
  expect(upstream).toMatchObject({
    name: "tools/call echo",
    kind: 2,
    parent: edge?.context,
    attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": "echo", "nexus.server": "up" },
    isEnded: true,
  });
  const sent = server.transcript.entries.findLast(({ headers }) => headers?.["mcp-method"] === "tools/call");
  expect(sent?.headers?.["traceparent"]).toBe(`00-${TRACE_ID}-${upstream?.context.spanId}-01`);
  expect(records.at(-1)).toMatchObject({ traceId: TRACE_ID, correlationId: TRACE_ID });

  // Without a trace of the caller, the SDK begins one, and the record has its id.
  await call("up__nothing", { "x-request-id": "order-7" });
  expect(spans).toHaveLength(4);
  expect(spans[2]).toMatchObject({
    parent: undefined,
    isError: true,
    attributes: { "nexus.correlation_id": "order-7" },
  });
  expect(spans[3]).toMatchObject({ parent: spans[2]?.context, isError: true, isEnded: true });
  expect(records.at(-1)).toMatchObject({ correlationId: "order-7", traceId: spans[2]?.context.traceId });
  expect(JSON.stringify(spans)).not.toContain("secret words");
});

/** Installed by: npm ci --prefix test/tools --ignore-scripts */
const TOOLS = resolve("test/tools/package.json");
const SDK = "@opentelemetry/sdk-trace-base";
const hasSdk = existsSync(resolve("test/tools/node_modules", SDK));

/** The used part of the SDK, and of a span as its exporters get it. */
interface TraceSdk {
  BasicTracerProvider: new (options: {
    spanProcessors: object[];
  }) => Parameters<typeof trace.setGlobalTracerProvider>[0];
  SimpleSpanProcessor: new (exporter: object) => object;
  InMemorySpanExporter: new () => { getFinishedSpans(): ExportedSpan[] };
}

interface ExportedSpan {
  name: string;
  kind: number;
  status: { code: number };
  attributes: Record<string, unknown>;
  parentSpanContext?: SpanContext;
  spanContext(): SpanContext;
}

test.skipIf(!hasSdk)(
  "the SDK of OpenTelemetry, with its own copy of the API, exports the spans of a call",
  async () => {
    const sdk = createRequire(TOOLS)(SDK) as TraceSdk;
    const exporter = new sdk.InMemorySpanExporter();
    trace.setGlobalTracerProvider(
      new sdk.BasicTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] }),
    );
    await using server = await startHttpFixture({ revision: "2026-07-28" });
    const host = await Host.open({ servers: { up: { url: server.url } } });
    await using gateway = await Gateway.open({ host, port: 0 });
    await gateway.ready();
    for (const [name, flags] of [
      ["echo", "01"],
      ["nothing", "01"],
      ["echo", "00"],
    ]) {
      const headers = { traceparent: `${TRACEPARENT.slice(0, -2)}${flags}`, tracestate: "acme=1" };
      await send(gateway.url, modern("tools/call", { name: `up__${name}`, arguments: { text: "x" } }, { headers }));
    }
    const spans = exporter.getFinishedSpans();
    // What the caller does not sample is not exported.
    expect(spans.map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
      ["tools/call echo", 2, 0],
      ["tools/call up__echo", 1, 0],
      ["tools/call nothing", 2, 2],
      ["tools/call up__nothing", 1, 2],
    ]);
    const [upstream, edge] = spans;
    expect(edge?.parentSpanContext).toMatchObject({ traceId: TRACE_ID, spanId: "b7ad6b7169203331" });
    expect(upstream?.parentSpanContext?.spanId).toBe(edge?.spanContext().spanId);
    expect(edge?.attributes).toMatchObject({ "nexus.server": "up", "nexus.outcome": "ok" });
    const sent = server.transcript.entries.filter(({ headers }) => headers?.["mcp-method"] === "tools/call");
    expect(sent[0]?.headers).toMatchObject({
      traceparent: `00-${TRACE_ID}-${upstream?.spanContext().spanId}-01`,
      tracestate: "acme=1",
    });
    expect(sent.at(-1)?.headers?.["traceparent"]).toMatch(/-00$/);
  },
);

test("without a registered SDK no span is made", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  const host = await Host.open({ servers: { up: { url: server.url } } });
  await using gateway = await Gateway.open({ host, port: 0 });
  const spans = registerTracer();
  await gateway.ready();
  await send(gateway.url, modern("tools/call", { name: "up__echo", arguments: { text: "x" } }));
  expect(spans).toEqual([]);
});
