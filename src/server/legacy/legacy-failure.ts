import { isRecord } from "../../json/is-record.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, type ErrorObject, type Result } from "../../protocol/json-rpc.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import {
  HEADER_MISMATCH,
  MISSING_CLIENT_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
  URL_ELICITATION_REQUIRED,
} from "../../protocol/meta.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";
import { rpcErrorOf } from "../core/rpc-error.ts";
import type { Asked } from "./legacy-result.ts";

/** What a legacy caller is told of a failure, in codes that its revision has. */
export function legacyFailure(
  thrown: unknown,
  { method, params }: Asked,
  version: LegacyRevision,
): { error: ErrorObject } | { result: Result } {
  const error = rpcErrorOf(thrown);
  switch (error.code) {
    case INVALID_PARAMS:
      return method === "resources/read" && typeof params["uri"] === "string"
        ? { error: { ...error, code: RESOURCE_NOT_FOUND } }
        : { error };
    case MISSING_CLIENT_CAPABILITY:
      return lacking(error, method);
    case URL_ELICITATION_REQUIRED:
      return { error: atLeast(version, "2025-11-25") ? error : internal(error) };
    case HEADER_MISMATCH:
    case UNSUPPORTED_VERSION:
      return { error: internal(error) };
    default:
      return { error };
  }
}

/** The code is of another revision, and is kept for those who look for it. */
function internal({ code, message, data }: ErrorObject): ErrorObject {
  return { code: INTERNAL_ERROR, message, data: isRecord(data) ? { ...data, code } : { code } };
}

function lacking(error: ErrorObject, method: string): { error: ErrorObject } | { result: Result } {
  const required = isRecord(error.data) ? error.data["requiredCapabilities"] : undefined;
  const names = capabilityNames(required);
  const message = names ? `This requires a client with ${names}: ${error.message}` : error.message;
  // The model is better told than the program: it can go on without this tool.
  if (method === "tools/call") return { result: { content: [{ type: "text", text: message }], isError: true } };
  return { error: internal({ ...error, message }) };
}
