import type { Duplex } from "node:stream";
import { INVALID_REQUEST, PARSE_ERROR } from "../../protocol/json-rpc.ts";

/** Answers what never became a request: headers that are too long or no HTTP, or a body that never ended. */
export function answerBroken({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || code === "ECONNRESET" || isAnswering(socket)) return void socket.destroy();
  const [status, error] = describe(code ?? "");
  const body = JSON.stringify({ jsonrpc: "2.0", error });
  const head = [
    `HTTP/1.1 ${status}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

/** Whether an answer has begun: what is written now would become part of it. */
function isAnswering(socket: Duplex & { _httpMessage?: { headersSent?: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

function describe(code: string): [status: string, error: { code: number; message: string }] {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return ["408 Request Timeout", { code: INVALID_REQUEST, message: "The request did not arrive in time" }];
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    const message = "The request headers are too large";
    return ["431 Request Header Fields Too Large", { code: INVALID_REQUEST, message }];
  }
  return ["400 Bad Request", { code: PARSE_ERROR, message: "This is not a valid HTTP request" }];
}
