import type { Client } from "../../client/client.ts";
import { newestResult } from "../../client/newest-form.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, type Result } from "../../protocol/json-rpc.ts";
import { MISSING_CLIENT_CAPABILITY, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED } from "../../protocol/meta.ts";
import { atLeast } from "../../protocol/revisions.ts";
import type { Caller } from "../../server/core/core.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";

/** A server's result in the form of the newest revision, without what concerns only the server and the gateway. */
export function canonicalResult(client: Pick<Client, "era">, method: string, result: Result): Result {
  return newestResult(client, method, withoutReservedMeta(result));
}

/** A failure as a tool result, so that a model can read it. */
export function toolFailure(text: string): Result {
  return { resultType: "complete", content: [{ type: "text", text }], isError: true };
}

/**
 * A server's error with a code of the newest revision. Other codes are meaningful only to the server and are moved into
 * `data`.
 */
export function canonicalError(error: NexusError, caller: Caller): NexusError {
  const { rpc } = error.details;
  // The server asked for something that was not declared. That is the server's fault.
  if (!rpc && error.code === "CAPABILITY_MISSING")
    return new NexusError("PROTOCOL_VIOLATION", error.message, error.details);
  if (!rpc || !isServerDefined(rpc.code)) return error;
  if (rpc.code === RESOURCE_NOT_FOUND) return error.amended({ rpc: { ...rpc, code: INVALID_PARAMS } });
  if (isUnderstood(rpc.code, caller)) return error;
  if (rpc.code === URL_ELICITATION_REQUIRED && caller.era === "modern") {
    const message = `${rpc.message} (This client does not declare elicitation.url.)`;
    return capabilityMissing({ elicitation: { url: {} } }, message);
  }
  const data = rpc.data === undefined ? { code: rpc.code } : { code: rpc.code, data: rpc.data };
  return error.amended({ rpc: { code: INTERNAL_ERROR, message: rpc.message, data } });
}

function isServerDefined(code: number): boolean {
  return code <= -32_000 && code >= -32_099;
}

function isUnderstood(code: number, { era, version }: Caller): boolean {
  if (code === MISSING_CLIENT_CAPABILITY) return era === "modern";
  return code === URL_ELICITATION_REQUIRED && era === "legacy" && atLeast(version, "2025-11-25");
}

/** The capabilities that a modern server says it requires. */
export function missingCapabilities(error: unknown): Record<string, unknown> | undefined {
  const rpc = error instanceof NexusError ? error.details.rpc : undefined;
  if (rpc?.code !== MISSING_CLIENT_CAPABILITY || !isRecord(rpc.data)) return undefined;
  const { requiredCapabilities } = rpc.data;
  return isRecord(requiredCapabilities) ? requiredCapabilities : undefined;
}

/** The error for a caller that did not declare what its call requires. */
export function capabilityMissing(requiredCapabilities: Record<string, unknown>, message: string): NexusError {
  const rpc = { code: MISSING_CLIENT_CAPABILITY, message, data: { requiredCapabilities } };
  return new NexusError("SERVER_ERROR", message, { rpc, mayHaveReached: false });
}
