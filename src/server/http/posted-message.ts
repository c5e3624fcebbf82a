import type { IncomingHttpHeaders } from "node:http";
import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, isRequestId, isResponse } from "../../protocol/json-rpc.ts";
import type { Notification, Request, RequestId } from "../../protocol/json-rpc.ts";
import { META } from "../../protocol/meta.ts";
import { isModernRevision } from "../../protocol/revisions.ts";
import { messageProblem, receivedMessage } from "../core/received-message.ts";
import { NO_BATCHES } from "../legacy/batch-answers.ts";
import { invalidRequest, type HttpRefusal } from "./http-refusal.ts";
import { eraOf } from "../modern/modern-sender.ts";
import type { ServedRevisions } from "../core/served-revisions.ts";

/** Whom a posted body concerns. */
export type PostedMessage =
  | { to: "modern"; message: Request | Notification }
  | { to: "legacy" }
  | { to: "nobody"; refusal: HttpRefusal; id?: RequestId | undefined };

/** Which era a POST belongs to: what the message says decides, then the header of a session, then the version header. */
export function sortPosted(body: unknown, headers: IncomingHttpHeaders, served: ServedRevisions): PostedMessage {
  const hasSession = headers["mcp-session-id"] !== undefined;
  if (Array.isArray(body)) {
    // Only sessions of 2025-03-26 know batches, and only the session knows whether it is one.
    return hasSession ? { to: "legacy" } : nobody(invalidRequest(NO_BATCHES));
  }
  const message = receivedMessage(body);
  if (!message || message.jsonrpc !== "2.0") return nobody(invalidRequest(messageProblem(body)), body);
  if (isResponse(message)) {
    return hasSession ? { to: "legacy" } : nobody(invalidRequest("A response belongs to a session"));
  }
  if (message.params !== undefined && !isRecord(message.params)) {
    return nobody(invalidRequest(`"params" must be an object`), body);
  }
  const era = eraOf(message, served);
  if (era === "modern") return { to: "modern", message };
  if (era === "legacy" || hasSession) return { to: "legacy" };
  if (!isModernRevision(headers["mcp-protocol-version"])) return { to: "legacy" };
  if (!("id" in message)) return { to: "modern", message };
  const error = { code: INVALID_PARAMS, message: `"_meta" of the request must have "${META.protocolVersion}"` };
  return nobody({ status: 400, error }, body);
}

function nobody(refusal: HttpRefusal, body?: unknown): PostedMessage {
  const id = isRecord(body) && isRequestId(body["id"]) ? body["id"] : undefined;
  return { to: "nobody", refusal, id };
}
