import { randomUUID } from "node:crypto";
import { NexusError } from "../../../errors/nexus-error.ts";

/** One part of a multipart body. */
export interface MultipartPart {
  name: string;
  fileName?: string | undefined;
  contentType?: string | undefined;
  content: Uint8Array;
}

const MAX_PARTS = 1_000;
const BREAK = "\r\n";

/** A multipart/form-data body with a random boundary, so that no content can contain it. */
export function writeMultipart(parts: readonly MultipartPart[]): { contentType: string; body: Uint8Array } {
  const boundary = `nexus-${randomUUID()}`;
  const pieces = parts.flatMap(({ name, fileName, contentType, content }) => {
    const file = fileName === undefined ? "" : `; filename="${quoted(fileName)}"`;
    const type = contentType === undefined ? "" : `${BREAK}Content-Type: ${contentType}`;
    const head = `--${boundary}${BREAK}Content-Disposition: form-data; name="${quoted(name)}"${file}${type}`;
    return [Buffer.from(`${head}${BREAK}${BREAK}`), content, Buffer.from(BREAK)];
  });
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--${BREAK}`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

/** As browsers write them: these characters would end the name or begin another header. */
function quoted(text: string): string {
  return text.replaceAll("%22", "%2522").replaceAll(/["\r\n]/g, (found) => PERCENT[found] ?? "");
}

const PERCENT: Record<string, string> = { '"': "%22", "\r": "%0D", "\n": "%0A" };

/** The parts of a multipart body; throws PROTOCOL_VIOLATION if it is none. */
export function readMultipart(body: Uint8Array, contentType: string): MultipartPart[] {
  const [, plain, inQuotes = plain] = /;\s*boundary=(?:([^\s;"]{1,70})|"([^"]{1,70})")/i.exec(contentType) ?? [];
  if (inQuotes === undefined) throw unreadable("its content type has no boundary");
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const mark = Buffer.from(`--${inQuotes}`);
  const parts: MultipartPart[] = [];
  let at = bytes.indexOf(mark);
  if (at === -1) throw unreadable("its boundary does not occur");
  for (;;) {
    const start = at + mark.length;
    if (bytes.subarray(start, start + 2).toString("latin1") === "--") return parts;
    const end = bytes.indexOf(Buffer.concat([Buffer.from(BREAK), mark]), start);
    if (end === -1) throw unreadable("its last part does not end");
    if (parts.length >= MAX_PARTS) throw unreadable(`it has more than ${MAX_PARTS} parts`);
    parts.push(readPart(bytes.subarray(start + 2, end)));
    at = end + 2;
  }
}

function readPart(bytes: Buffer): MultipartPart {
  const isBare = bytes.subarray(0, 2).toString("latin1") === BREAK;
  const headEnd = isBare ? 0 : bytes.indexOf(BREAK + BREAK);
  if (headEnd === -1) throw unreadable("a part has no headers");
  const head = bytes.subarray(0, headEnd).toString("utf8");
  const [, name] = /;\s*name="([^"]*)"/i.exec(head) ?? [];
  if (name === undefined) throw unreadable("a part has no name");
  const [, fileName] = /;\s*filename="([^"]*)"/i.exec(head) ?? [];
  const [, type] = /^content-type:\s*(\S[^\r\n]*)$/im.exec(head) ?? [];
  return {
    name: unquoted(name),
    ...(fileName === undefined ? {} : { fileName: unquoted(fileName) }),
    ...(type === undefined ? {} : { contentType: type.trim() }),
    content: bytes.subarray(headEnd + (isBare ? 2 : 4)),
  };
}

function unquoted(text: string): string {
  return text.replaceAll(/%(22|0D|0A|2522)/g, (found) => UNQUOTED[found] ?? found);
}

const UNQUOTED: Record<string, string> = { "%22": '"', "%0D": "\r", "%0A": "\n", "%2522": "%22" };

function unreadable(problem: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The multipart body cannot be read: ${problem}`, {
    mayHaveReached: true,
  });
}
