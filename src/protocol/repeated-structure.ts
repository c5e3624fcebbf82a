import { isDeepStrictEqual } from "node:util";
import type { Content } from "./mcp.ts";

/**
 * Whether a content block repeats the structured content as text, as tools with an output schema do for older clients.
 */
export function repeatsStructure({ type, text }: Content, structured: unknown): boolean {
  if (type !== "text" || typeof text !== "string") return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), structured);
  } catch {
    return false;
  }
}
