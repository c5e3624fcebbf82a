import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../json/is-record.ts";

/**
 * Whether a content block repeats the structured content as text, as tools with an output schema do for older clients.
 */
export function repeatsStructure(block: unknown, structured: unknown): boolean {
  if (!isRecord(block) || block["type"] !== "text" || typeof block["text"] !== "string") return false;
  try {
    return isDeepStrictEqual(JSON.parse(block["text"]), structured);
  } catch {
    return false;
  }
}
