import { isDeepStrictEqual } from "node:util";
import type { Content } from "./mcp.ts";

/** Whether a block is the structure as text: tools with an output schema repeat it so, for clients that know no structure. */
export function repeatsStructure({ type, text }: Content, structured: unknown): boolean {
  if (type !== "text" || typeof text !== "string") return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), structured);
  } catch {
    return false;
  }
}
