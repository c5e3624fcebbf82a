import type { CallTracer } from "../operation/call-tracer.ts";
import { type Stage, labelsOf } from "../requests/request.ts";

interface TraceOptions {
  /** Undefined where the program registers no SDK of OpenTelemetry. */
  tracing?: CallTracer | undefined;
}

/** A span for each request. */
export function trace({ tracing }: TraceOptions): Stage[] {
  if (!tracing) return [];
  return [
    async (request, next) => {
      const span = tracing.begin(request.exchange, labelsOf(request.exchange, request).name);
      try {
        return await next(request);
      } finally {
        span.end(request.outcome, labelsOf(request.exchange, request).server, request.failure);
      }
    },
  ];
}
