import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import { NexusError } from "../../errors/nexus-error.ts";

/** Of those whose credentials are known by now, and of others, who are many. */
const MAX_BODY = { known: 1024 * 1024, stranger: 4096 };
const STREAMED: ReadonlySet<string> = new Set(["text/event-stream", "application/jsonl"]);

/** Reads a whole body. Throws MESSAGE_TOO_LARGE. */
export async function readBody(
  req: IncomingMessage,
  sender: keyof typeof MAX_BODY,
  max = MAX_BODY[sender],
): Promise<string> {
  // Before the first byte of it is read.
  if (Number(req.headers["content-length"] ?? 0) > max) throw tooLarge(max);
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection stays open for the answer.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > max) throw tooLarge(max);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Writes a response. A stream is read as fast as the client takes it, and cancelled when the client leaves. */
export async function writeResponse(res: ServerResponse, response: Response, withBody = true): Promise<void> {
  // A stream that is not read has to be told, because it waits for its reader.
  if (res.destroyed) return response.body?.cancel();
  for (const [name, value] of response.headers) if (name !== "set-cookie") res.setHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) res.setHeader("set-cookie", cookies);
  res.statusCode = response.status;
  if (!STREAMED.has(response.headers.get("content-type") ?? "")) {
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status !== 204 && response.status !== 304) res.setHeader("content-length", body.length);
    res.end(withBody ? body : undefined);
    return;
  }
  res.flushHeaders();
  if (!withBody) await response.body?.cancel();
  else if (response.body) await writeStream(res, response.body);
  res.end();
}

async function writeStream(res: ServerResponse, body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const left = once(res, "close");
  const cancel = () => void reader.cancel().catch(() => {});
  res.once("close", cancel);
  for (;;) {
    const { done, value } = await reader.read();
    if (done || res.destroyed) return;
    if (!res.write(value)) await Promise.race([once(res, "drain"), left]);
  }
}

function tooLarge(max: number): NexusError {
  return new NexusError("MESSAGE_TOO_LARGE", `The body has more than ${max} bytes`, { mayHaveReached: false });
}
