import { createHash } from "node:crypto";
import { instanceKey, type ServerInstance } from "../../../auth/server-instance.ts";

/** Without letters and digits that people mix up: such a key may be read out on the telephone. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH = 20;

/** Who calls where no caller is named: whoever runs the program, on the command line as through a gateway. */
export const LOCAL_CALLER = "local";

export interface KeyedWrite {
  of: ServerInstance;
  tool: string;
  caller: string;
  input: unknown;
}

/**
 * What one write is known by, here and upstream: the same caller with the same arguments gets the same key, so that a
 * repeat is recognised; anything else gets another.
 */
export function requestKey({ of, tool, caller, input }: KeyedWrite): string {
  return readable(`${instanceKey(of, tool, caller)}${JSON.stringify(inOrder(input))}`);
}

/** What the same write was known by when keys were made of the API's name, and a gateway's callers had a name of their own. */
export function formerRequestKeys(api: string, { tool, caller, input }: KeyedWrite): string[] {
  const callers = caller === LOCAL_CALLER ? [caller, "default/anybody"] : [caller];
  const ordered = inOrder(input);
  return callers.map((one) => readable(JSON.stringify([api, tool, one, ordered])));
}

function readable(text: string): string {
  const digest = createHash("sha256").update(text).digest();
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
