import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INTERNAL_ERROR } from "../../protocol/json-rpc.ts";
import type { Admission } from "../../server/core/core.ts";
import type { Principal } from "../../server/core/principal.ts";
import { waitText } from "../../text/duration.ts";

/** What principals may use in a time, and at once. Asked for every request, so it answers at once where it can. */
export interface Allowance {
  /** Counts requests of a principal. Undefined: all of them are within the limits. */
  take(principal: Principal, requests: number): Admission | undefined | Promise<Admission | undefined>;
  /** Counts a call that begins; throws RATE_LIMITED. Undefined where the number of running calls is not limited. */
  enter(principal: Principal): RunningCall | undefined;
  /** Maximum bytes of a request's body; undefined where it is not limited. */
  maxRequestBytes(principal: Principal): number | undefined;
}

/** A call that counts until it has left. */
export interface RunningCall {
  leave(): void;
}

/** A limit, as its caller is told. */
export interface ExceededLimit {
  /** As in the commands that set it: `rate`, `per-day`, `concurrent`; `tenant-…` where it is one of the tenant. */
  name: string;
  max: number;
  /** 0 where it is not about a time. */
  windowMs: number;
}

/** The error for a request that exceeds a limit. Nothing was done for it. */
export function rateLimited(limit: ExceededLimit, retryAfterMs: number): NexusError {
  const message = `${words(limit)}. Retry after ${waitText(retryAfterMs)}`;
  const data = { code: "RATE_LIMITED", limit, retryAfterMs };
  return new NexusError("RATE_LIMITED", message, {
    rpc: { code: INTERNAL_ERROR, message, data },
    retryAfterMs,
    mayHaveReached: false,
  });
}

/** The same error with the id of the request, by which operators find it in the log and in the audit. */
export function withCorrelation(error: NexusError, correlationId: string): NexusError {
  const { rpc } = error.details;
  if (error.code !== "RATE_LIMITED" || !rpc || !isRecord(rpc.data)) return error;
  return error.amended({ correlationId, rpc: { ...rpc, data: { ...rpc.data, correlationId } } });
}

function words({ name, max, windowMs }: ExceededLimit): string {
  const whose = name.startsWith("tenant-") ? "this tenant" : "this key";
  if (windowMs === 0) return `The limit of ${whose} for running calls is reached (${max})`;
  const requests = max === 1 ? "request" : "requests";
  return `The limit of ${whose} is reached: ${max} ${requests} per ${SPANS.get(windowMs) ?? `${windowMs / 1000} s`}`;
}

const SPANS: ReadonlyMap<number, string> = new Map([
  [1_000, "second"],
  [60_000, "minute"],
  [3_600_000, "hour"],
  [86_400_000, "day"],
]);
