import type { IncomingMessage, ServerResponse } from "node:http";
import type { ForeignRequest } from "../../server/http/http-listener.ts";

/** The answer to a request. */
export interface FakeReply {
  status: number;
  type: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
  /** The format of the body, if it is a document of the file. */
  as?: "xml" | "json";
}

const MAX_BODY = 32 * 1024 * 1024;

/** The body of a request; the connection ends if it is too long. */
export async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY) throw new RangeError("the body is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** `cut`: the connection ends in the middle of the body. */
export function send(response: ServerResponse, { status, type, body, headers }: FakeReply, { cut = false } = {}): void {
  const bytes = Buffer.from(body as string);
  // Something must also be missing in an empty body.
  const length = cut ? Math.max(bytes.length, 2) : bytes.length;
  response.writeHead(status, {
    ...headers,
    ...(length === 0 ? {} : { "content-type": type, "content-length": length }),
  });
  if (!cut) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}

/** Refuses pages of other sites, which could read and change the fake. The rest of the request is not read. */
export function refuse(request: IncomingMessage, response: ServerResponse, { reason, value }: ForeignRequest): void {
  const body = `The fake serves programs of this machine only, not this request (${reason}: ${JSON.stringify(value)}).\n`;
  response.shouldKeepAlive = false;
  request.resume();
  send(response, { status: 403, type: "text/plain; charset=utf-8", body });
}
