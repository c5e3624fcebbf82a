import { decodeUtf8, encodeUtf8, fromBase64, toBase64 } from "../text/bytes.ts";

/**
 * Values of `Mcp-Name` and `Mcp-Param-*`: visible ASCII is sent unchanged, anything else as `=?base64?…?=` (2026-07-28,
 * Streamable HTTP).
 */
const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function encodeHeaderValue(value: string): string {
  const plain = PLAIN.test(value) && !(value.startsWith("=?base64?") && value.endsWith("?="));
  return plain || value === "" ? value : `=?base64?${toBase64(encodeUtf8(value))}?=`;
}

/** Undefined if the content is not Base64. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!(value.startsWith("=?base64?") && value.endsWith("?="))) return value;
  const inside = SENTINEL.exec(value)?.[1];
  if (inside === undefined || inside.length % 4 !== 0) return undefined;
  return decodeUtf8(fromBase64(inside));
}
