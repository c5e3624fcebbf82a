import { createHash } from "node:crypto";
import { instanceKey, type ServerInstance } from "../../../auth/server-instance.ts";

/** Without characters that look or sound alike, because keys may be read out on the telephone. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH = 20;

/** The caller if none is named: the user of the program, on the command line or through a gateway. */
export const LOCAL_CALLER = "local";

interface KeyedWrite {
  of: ServerInstance;
  tool: string;
  caller: string;
  input: unknown;
}

/**
 * The key of one write, here and upstream: the same caller with the same arguments gets the same key, so that a
 * repetition is recognised; anything else gets another.
 */
export function requestKey({ of, tool, caller, input }: KeyedWrite): string {
  return readable(`${instanceKey(of, tool, caller)}${JSON.stringify(inOrder(input))}`);
}

/**
 * The key of one write inside of a call with steps: the same for the same call, step and item, whatever the arguments
 * of the step are.
 */
export function stepKey(call: string, step: string, index: number): string {
  return readable(JSON.stringify([call, step, index]));
}

/** The key of a record: writes to a replacement address are recorded separately. */
export function ledgerKey(id: string, standIn: string | undefined): string {
  return standIn === undefined ? id : `${id} ${standIn}`;
}

/** Equal for equal arguments. */
export function argumentsKey(given: unknown): string {
  return readable(JSON.stringify(inOrder(given)));
}

/**
 * The keys of the same write in older versions, which used the API's name and separate names for callers of a gateway.
 */
export function formerRequestKeys(api: string, { tool, caller, input }: KeyedWrite): string[] {
  const callers = caller === LOCAL_CALLER ? [caller, "default/anybody"] : [caller];
  const ordered = inOrder(input);
  return callers.map((one) => readable(JSON.stringify([api, tool, one, ordered])));
}

function readable(text: string): string {
  const digest = createHash("sha256").update(text).digest();
  return Array.from(digest.subarray(0, LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

/** Sorted members and normalised accents, so that equal arguments have equal keys. */
function inOrder(value: unknown): unknown {
  if (typeof value === "string") return value.normalize("NFC");
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  const members: [string, unknown][] = [];
  for (const name of Object.keys(fields).sort()) {
    if (fields[name] !== undefined) members.push([name, inOrder(fields[name])]);
  }
  return members;
}
