import { createHash } from "node:crypto";

/** Without letters and digits that people mix up: such a key may be read out on the telephone. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH = 20;

/**
 * What one write is known by, here and upstream: the same caller with the same arguments gets the same key, so that a
 * repeat is recognised; anything else gets another.
 */
export function requestKey(write: { api: string; tool: string; caller: string; input: unknown }): string {
  const { api, tool, caller, input } = write;
  const digest = createHash("sha256")
    .update(JSON.stringify([api, tool, caller, inOrder(input)]))
    .digest();
  return Array.from(digest.subarray(0, LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** The order in which a caller writes members means nothing, nor whether an accent is a character of its own. */
function inOrder(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC");
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, inOrder(item)]);
}
