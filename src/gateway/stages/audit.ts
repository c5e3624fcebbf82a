import type { NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { AuditTrail, Outcome } from "../operation/audit.ts";
import { labelsOf, type Stage } from "../requests/request.ts";
import type { Records } from "./records.ts";

interface AuditStageOptions {
  audit: AuditTrail;
  records: Records;
  /** What the caller is told of a failure; the log has the rest. */
  report: (error: unknown, method: string, correlationId: string) => NexusError;
}

/** One record, one line of the log and the metrics of each request, however it ended. */
export function audit({ audit: trail, records, report }: AuditStageOptions): Stage {
  return async (request, next) => {
    const { exchange } = request;
    const startedAt = performance.now();
    let result: Result | undefined;
    try {
      trail.requireReady();
      result = await next(request);
      request.outcome = outcomeOf(result);
      return result;
    } catch (error) {
      request.outcome = exchange.signal.aborted ? "cancelled" : request.hasBegun ? "error" : "refused";
      throw (request.failure = report(error, exchange.method, exchange.correlationId));
    } finally {
      const { outcome, failure } = request;
      const record = records.finish(exchange, labelsOf(exchange, request), { outcome, failure, startedAt, result });
      const { receipt } = exchange;
      if (receipt) receipt.recorder = record;
      else {
        const written = record.record(undefined);
        if (written) await written;
      }
    }
  };
}

function outcomeOf({ resultType, isError }: Result): Outcome {
  if (resultType === "input_required" || resultType === "task") return resultType;
  return isError === true ? "tool_error" : "ok";
}
