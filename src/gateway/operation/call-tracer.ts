import type * as OpenTelemetry from "@opentelemetry/api";
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import type { NexusError } from "../../errors/nexus-error.ts";
import { VERSION } from "../../protocol/version.ts";
import type { ServerSpan, UpstreamSpan } from "../../server/core/core.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { Outcome } from "./audit.ts";

type Api = typeof OpenTelemetry;

/** Where the API keeps what a program has registered, whichever copy of it was used. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const ERRORS: ReadonlySet<Outcome> = new Set<Outcome>(["tool_error", "error", "refused"]);

/**
 * Spans of OpenTelemetry for calls: one at the edge, and a child for the request to a server. The program registers the SDK;
 * without one there is no tracing, and nothing is loaded.
 */
export class CallTracer {
  readonly #api: Api;
  readonly #tracer: Tracer;

  /** Undefined if no SDK is registered or the API is not installed. */
  static async find(): Promise<CallTracer | undefined> {
    const registered = (globalThis as Record<symbol, unknown>)[REGISTERED] as { trace?: unknown } | undefined;
    if (!registered?.trace) return undefined;
    try {
      return new CallTracer(await import("@opentelemetry/api"));
    } catch {
      return undefined;
    }
  }

  private constructor(api: Api) {
    this.#api = api;
    this.#tracer = api.trace.getTracer("nexus-mcp", VERSION);
  }

  /** Begins the span of a call, as a child of the caller's, and gives it to the exchange. */
  begin(exchange: GatewayExchange, target: string | undefined): RunningSpan {
    const { SpanKind } = this.#api;
    const { method, principal, correlationId, caller } = exchange;
    const attributes: Attributes = {
      ...attributesOf(method, target),
      "mcp.protocol.version": caller.version,
      "nexus.tenant": principal.tenant,
      "nexus.correlation_id": correlationId,
    };
    const parent = this.#parentOf(exchange);
    const span = this.#tracer.startSpan(nameOf(method, target), { kind: SpanKind.SERVER, attributes }, parent);
    const { traceId } = span.spanContext();
    if (this.#api.isValidTraceId(traceId)) exchange.traceId = traceId;
    const call = new CallSpan(span, this.#api, this.#tracer, this.#api.trace.setSpan(parent, span));
    exchange.span = call;
    return call;
  }

  /** What the caller says, or what the program's own instrumentation of HTTP has begun. */
  #parentOf({ traceId, caller: { trace } }: GatewayExchange): Context {
    const { context, ROOT_CONTEXT, trace: traces, createTraceState } = this.#api;
    if (!trace) return context.active();
    const [, , spanId = "", flags = ""] = trace.traceparent.split("-");
    const traceState = trace.tracestate === undefined ? undefined : createTraceState(trace.tracestate);
    const traceFlags = Number.parseInt(flags.slice(0, 2), 16);
    const parent = { traceId, spanId, traceFlags, isRemote: true, ...(traceState ? { traceState } : {}) };
    return traces.setSpanContext(ROOT_CONTEXT, parent);
  }
}

/** The span of a call until it ends. Its type names nothing of OpenTelemetry, which users of the library need not have. */
interface RunningSpan extends ServerSpan {
  end(outcome: Outcome, server: string, failure: NexusError | undefined): void;
}

class CallSpan implements RunningSpan {
  readonly #span: Span;
  readonly #api: Api;
  readonly #tracer: Tracer;
  readonly #context: Context;

  constructor(span: Span, api: Api, tracer: Tracer, context: Context) {
    this.#span = span;
    this.#api = api;
    this.#tracer = tracer;
    this.#context = context;
  }

  child(server: string, method: string, target: unknown): UpstreamSpan {
    const { SpanKind, SpanStatusCode } = this.#api;
    const name = typeof target === "string" ? target : undefined;
    const attributes = { ...attributesOf(method, name), "nexus.server": server };
    const span = this.#tracer.startSpan(nameOf(method, name), { kind: SpanKind.CLIENT, attributes }, this.#context);
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    const tracestate = traceState?.serialize();
    const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
    return {
      trace: { traceparent, ...(tracestate === undefined || tracestate === "" ? {} : { tracestate }) },
      end: (code) => {
        if (code !== undefined) {
          span.setAttribute("error.type", code);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  end(outcome: Outcome, server: string, failure: NexusError | undefined): void {
    this.#span.setAttribute("nexus.outcome", outcome);
    if (server !== "") this.#span.setAttribute("nexus.server", server);
    if (ERRORS.has(outcome)) {
      this.#span.setAttribute("error.type", failure?.code ?? outcome);
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** Names of tools and prompts only: the address of a resource may contain arguments. */
function isNamed(method: string): boolean {
  return method === "tools/call" || method === "prompts/get";
}

function nameOf(method: string, target: string | undefined): string {
  return target !== undefined && isNamed(method) ? `${method} ${target}` : method;
}

/** As the semantic conventions for MCP name them. */
function attributesOf(method: string, target: string | undefined): Attributes {
  const attributes: Attributes = { "mcp.method.name": method };
  if (target === undefined) return attributes;
  if (method === "tools/call") {
    attributes["gen_ai.tool.name"] = target;
    attributes["gen_ai.operation.name"] = "execute_tool";
  } else if (method === "prompts/get") attributes["gen_ai.prompt.name"] = target;
  return attributes;
}
