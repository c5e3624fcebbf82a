import { NexusError } from "../../../errors/nexus-error.ts";
import { utf8Text } from "../../../text/utf8-text.ts";

/** The start of a document, which has the declaration of its encoding. */
const HEAD_BYTES = 200;
/** Only for complete documents, so they keep no state. */
const DECODERS = {
  "utf-16le": new TextDecoder("utf-16le", { fatal: true }),
  "utf-16be": new TextDecoder("utf-16be", { fatal: true }),
};
const UNICODE = new Set(["utf-8", "utf8"]);

/**
 * The text of a document in UTF-8, US-ASCII or ISO-8859-1; UTF-16 only with a byte order mark. Other encodings are
 * refused by name.
 */
export function textOfXml(bytes: Uint8Array): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return declaredAs(decode(bytes, "utf-8"), UNICODE);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return declaredAs(decode(bytes, "utf-16le"), new Set(["utf-16"]));
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return declaredAs(decode(bytes, "utf-16be"), new Set(["utf-16"]));

  const encoding = encodingIn(latin1(bytes.subarray(0, HEAD_BYTES))) ?? "utf-8";
  if (UNICODE.has(encoding)) return decode(bytes, "utf-8");
  if (encoding === "us-ascii" || encoding === "ascii") {
    if (bytes.some((byte) => byte > 0x7f)) throw unreadable("it is declared as US-ASCII and holds other characters");
    return latin1(bytes);
  }
  // Not TextDecoder, which uses Windows-1252 instead.
  if (encoding === "iso-8859-1" || encoding === "latin1") return latin1(bytes);
  throw unreadable(`its encoding "${encoding}" is not supported; UTF-8, US-ASCII and ISO-8859-1 are`);
}

export function unreadable(problem: string, cause?: unknown): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The XML cannot be read: ${problem}`, { cause, mayHaveReached: true });
}

function decode(bytes: Uint8Array, encoding: keyof typeof DECODERS | "utf-8"): string {
  if (encoding === "utf-8") {
    const text = utf8Text(bytes);
    if (text === undefined) throw unreadable("its bytes are not UTF-8");
    return text;
  }
  try {
    return DECODERS[encoding].decode(bytes);
  } catch {
    throw unreadable("its bytes are not UTF-16");
  }
}

function latin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

function declaredAs(text: string, allowed: ReadonlySet<string>): string {
  const encoding = encodingIn(text.slice(0, HEAD_BYTES));
  if (encoding !== undefined && !allowed.has(encoding)) {
    throw unreadable(`its first bytes and its declared encoding "${encoding}" contradict each other`);
  }
  return text;
}

function encodingIn(head: string): string | undefined {
  return /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/.exec(head)?.[1]?.toLowerCase();
}
