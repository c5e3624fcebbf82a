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

test("without a registered SDK no span is made", async () => {
  await using server = await startHttpFixture({ revision: "2026-07-28" });
  const host = await Host.open({ servers: { up: { url: server.url } } });
  await using gateway = await Gateway.open({ host, port: 0 });
  const spans = registerTracer();
  await gateway.ready();
  await send(gateway.url, modern("tools/call", { name: "up__echo", arguments: { text: "x" } }));
  expect(spans).toEqual([]);
});
