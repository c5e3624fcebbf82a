import { createReadStream } from "node:fs";

const MAX_BYTES = 64 * 1024 * 1024;

/** The text of a file that the command line names. It may be a pipe, as shells make them; one without an end is refused. */
export async function loadNamedFile(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`larger than the limit of ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
