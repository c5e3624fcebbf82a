import type { IncomingMessage, ServerResponse } from "node:http";
import { INTERNAL_ERROR, INVALID_REQUEST, type ErrorObject, type RequestId } from "../../protocol/json-rpc.ts";

/** An answer that is no result: the status, and the JSON-RPC error that says why. */
export interface HttpRefusal {
  status: number;
  error: ErrorObject;
  headers?: Record<string, string>;
}

export function invalidRequest(message: string, status = 400): HttpRefusal {
  return { status, error: { code: INVALID_REQUEST, message } };
}

export function unauthorized(message: string): HttpRefusal {
  return { ...invalidRequest(message, 401), headers: { "www-authenticate": "Bearer" } };
}

/** For a caller whose credentials were revoked, or expired, after it was let in. */
export const EXPELLED = unauthorized("The credentials are not valid any more");

export function wrongMethod(allowed: string): HttpRefusal {
  return { ...invalidRequest(`Method not allowed. Use ${allowed}`, 405), headers: { allow: allowed } };
}

/** The caller may come again. */
export function overloaded(message: string, seconds = 1): HttpRefusal {
  return { status: 503, error: { code: INTERNAL_ERROR, message }, headers: { "retry-after": String(seconds) } };
}

/** How long the rest of a request is read and thrown away, so that its sender gets to the answer. */
const LINGER_MS = 1000;

/** Clients check the outline of a message: an id that is not known is left out, since null is none for them. */
export function refuse(res: ServerResponse, { status, error, headers }: HttpRefusal, id?: RequestId): void {
  sendJson(res, status, { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error }, headers);
}

/**
 * Refuses a request that is still being sent. Closing at once would reset the connection, and the sender would see that
 * in place of the answer.
 */
export function refuseUnread(req: IncomingMessage, res: ServerResponse, { status, error, headers }: HttpRefusal): void {
  const text = JSON.stringify({ jsonrpc: "2.0", error });
  res.writeHead(status, { ...jsonHeaders(text), ...headers, connection: "close" });
  res.write(text);
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.once("end", end).once("close", end).resume();
}

export function sendJson(res: ServerResponse, status: number, body: unknown, headers?: Record<string, string>): void {
  sendText(res, status, JSON.stringify(body), headers);
}

/** `json` is written already. */
export function sendText(res: ServerResponse, status: number, json: string, headers?: Record<string, string>): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, headers ? { ...jsonHeaders(json), ...headers } : jsonHeaders(json));
  res.end(json);
}

function jsonHeaders(text: string): Record<string, string | number> {
  return { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
}
