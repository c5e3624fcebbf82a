import type { Content } from "../../protocol/mcp.ts";
import type { AnswerBytes } from "./answer-decoder.ts";
import type { Redaction } from "./secrets/redaction.ts";

/** Images and sounds up to this size are in the result itself, because models cannot follow a link to see them. */
const MAX_INLINE = 1024 * 1024;

export interface BlobOptions {
  tool: string;
  /** The limit of the result for files that are neither image nor sound. */
  maxBytes: number;
  /** Keeps the bytes; the address at which they can be read, or undefined if they are too large. */
  keep: (blob: AnswerBytes) => string | undefined;
}

/** Bytes as content of a result: an image, a sound, a resource, or a link to one that is kept for a while. */
export function blobContent(blob: AnswerBytes, { tool, maxBytes, keep }: BlobOptions): Content[] {
  const { bytes, contentType } = blob;
  const mimeType = contentType.split(";")[0]?.trim().toLowerCase() ?? contentType;
  const annotations = { audience: ["user", "assistant"] };
  const [, kind] = /^(image|audio)\//.exec(mimeType) ?? [];
  if (kind !== undefined && bytes.length <= MAX_INLINE) {
    return [{ type: kind, data: base64(bytes), mimeType, annotations }];
  }
  const uri = keep(blob);
  if (uri === undefined) {
    const text = `The file (${mimeType}, ${bytes.length} bytes) is too large to be kept here and is not in this result.`;
    return [{ type: "text", text, annotations }];
  }
  const small = bytes.length <= maxBytes;
  if (small) return [{ type: "resource", resource: { uri, mimeType, blob: base64(bytes) }, annotations }];
  return [{ type: "resource_link", uri, name: `${tool} file`, mimeType, size: bytes.length, annotations }];
}

/** The bytes with secrets masked: all in a text, and those that cannot occur by chance in other bytes. */
export function redactedBytes({ bytes, contentType }: AnswerBytes, redaction: Redaction): AnswerBytes {
  const masked = { contentType: redaction.in(contentType) };
  const text = asUtf8(bytes);
  const plain = text ?? Buffer.from(bytes).toString("latin1");
  const shown = text === undefined ? redaction.inOwnWords(plain) : redaction.in(plain);
  return { ...masked, bytes: shown === plain ? bytes : Buffer.from(shown, text === undefined ? "latin1" : "utf8") };
}

function asUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
