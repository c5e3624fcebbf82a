import type { Duplex } from "node:stream";
import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
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
    const message = "The headers are larger than is taken";
    return ["431 Request Header Fields Too Large", { code: INVALID_REQUEST, message }];
  }
  return ["400 Bad Request", { code: PARSE_ERROR, message: "This is no HTTP request" }];
}

/** Why the gateway cannot listen, and what to do. */
export function cannotListen(error: NodeJS.ErrnoException, port: number, address: string): NexusError {
  const details: ErrorDetails = { phase: "start", cause: error };
  const code = error.code ?? "";
  if (code === "EADDRINUSE") {
    return new NexusError("CONFIG_INVALID", `Port ${port} of ${address} is taken`, {
      ...details,
      likelyCause: "Another program listens there, perhaps another gateway.",
      hint: `Choose another port with --port ${port < 65_535 ? port + 1 : port - 1}, or let --port 0 find a free one.`,
    });
  }
  if (code === "EACCES") {
    return new NexusError("PERMISSION_DENIED", `Port ${port} of ${address} may not be used by you`, {
      ...details,
      hint: "Ports below 1024 belong to the system; choose a higher one with --port.",
    });
  }
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"].includes(code)) {
    return new NexusError("CONFIG_INVALID", `${address} is no address of this machine`, {
      ...details,
      hint: "Leave --host out to listen on 127.0.0.1.",
    });
  }
  return new NexusError("CONFIG_INVALID", `Listening on ${address}, port ${port}, failed: ${error.message}`, details);
}
