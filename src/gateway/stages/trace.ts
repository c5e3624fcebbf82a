import type { CallTracer } from "../operation/call-tracer.ts";
import type { Stage } from "../requests/request.ts";

export interface TraceOptions {
  /** Undefined where the program registers no SDK of OpenTelemetry. */
  tracing?: CallTracer | undefined;
}

/** A span for each request. */
export function trace({ tracing }: TraceOptions): Stage[] {
  if (!tracing) return [];
  return [
    async (request, next) => {
      const span = tracing.begin(request.exchange, request.name);
      try {
        return await next(request);
      } finally {
        span.end(request.outcome, request.server, request.failure);
      }
    },
  ];
}
