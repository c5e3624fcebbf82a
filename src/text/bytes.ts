/** Bytes and text in every runtime. Where there is `Buffer`, it is used, because it is faster. */

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** The text of UTF-8 bytes. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  if (hasBuffer() && Buffer.isBuffer(bytes)) return bytes.toString("utf8", start, end);
  return decoder.decode(bytes.subarray(start, end));
}

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** The text of UTF-8 bytes that came in pieces. */
export function decodeAll(chunks: readonly Uint8Array[]): string {
  const [only] = chunks;
  return decodeUtf8(chunks.length === 1 && only ? only : concatBytes(chunks));
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (hasBuffer()) return Buffer.concat(chunks);
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** With the letters of URLs, and without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** What is not Base64 is left out. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const own = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replaceAll(/[^A-Za-z0-9+/]/g, "");
  // A letter alone at the end is no whole byte.
  const whole = own.length % 4 === 1 ? own.slice(0, -1) : own;
  return Uint8Array.from(atob(whole), (letter) => letter.charCodeAt(0));
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function hasBuffer(): boolean {
  return "Buffer" in globalThis;
}
