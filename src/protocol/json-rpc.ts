import { isRecord } from "../json/is-record.ts";

/** JSON-RPC 2.0 as MCP uses it. Messages are passed on unchanged, including unknown members. */
export type RequestId = string | number;

export type Params = Record<string, unknown>;

export interface Request {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params?: Params;
}

export interface Notification {
  jsonrpc: "2.0";
  method: string;
  params?: Params;
}

export interface SuccessResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: Result;
}

export interface ErrorResponse {
  jsonrpc: "2.0";
  /** Null or absent if the server could not read the id. */
  id?: RequestId | null;
  error: ErrorObject;
}

export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** A result as the server sent it; `resultType` is absent before 2026-07-28. */
export interface Result {
  _meta?: Record<string, unknown>;
  resultType?: string;
  [member: string]: unknown;
}

export type Response = SuccessResponse | ErrorResponse;
export type Message = Request | Notification | Response;

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** Numbers that JSON does not return exactly are refused: their answer would name another request. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export function isResponse(message: Message): message is Response {
  return "result" in message || "error" in message;
}

/** A message without an id that has a method. */
export function isNotification(message: Message): message is Notification {
  return "method" in message && !("id" in message);
}

export function isRequest(message: Message): message is Request {
  return "method" in message && "id" in message;
}

/** A value if it has the basic form of a message; its content is not checked. */
export function asMessage(value: unknown): Message | undefined {
  if (!isRecord(value)) return undefined;
  if (typeof value["method"] === "string") {
    if ("id" in value && !isRequestId(value["id"])) return undefined;
    return value as unknown as Request | Notification;
  }
  if (isRecord(value["error"])) {
    const { code, message } = value["error"];
    return typeof code === "number" && typeof message === "string" ? (value as unknown as ErrorResponse) : undefined;
  }
  return "result" in value && isRequestId(value["id"]) ? (value as unknown as SuccessResponse) : undefined;
}

/**
 * The messages in a JSON text from a server: one, or those of a batch (2025-03-26); none if it is not JSON or not a
 * message. A malformed answer is included, because its request would otherwise wait forever.
 */
export function parseMessages(json: string): Message[] {
  // Checked without a parser, whose exceptions would be slow if a server floods its stdout.
  if (!/^\s*[{[]/.test(json)) return [];
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return [];
  }
  if (Array.isArray(value)) return value.map(asMessageOrAnswer).filter((message) => message !== undefined);
  const message = asMessageOrAnswer(value);
  return message ? [message] : [];
}

function asMessageOrAnswer(value: unknown): Message | undefined {
  const message = asMessage(value);
  if (message || !isRecord(value) || "method" in value) return message;
  return isRequestId(value["id"]) || "error" in value ? (value as unknown as Response) : undefined;
}
