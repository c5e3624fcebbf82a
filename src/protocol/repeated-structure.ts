import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../json/is-record.ts";

/**
 * Whether content blocks say the same as the structured content: as JSON, as tools with an output schema do for older
 * clients, or as the text of its only member, as `{ "content": "…" }` and `{ "result": … }` of common servers.
 */
export function repeatsStructure(blocks: readonly unknown[], structured: unknown): boolean {
  const texts = blocks.flatMap((block) => textIn(block) ?? []);
  if (texts.some((text) => saysAll(text, structured))) return true;
  const [only, ...others] = isRecord(structured) ? Object.values(structured) : [];
  if (only === undefined || others.length > 0) return false;
  const isList = Array.isArray(only) && only.length === texts.length && texts.length === blocks.length;
  const isSaidInParts = isList && texts.length > 0 && only.every((part, at) => saysOne(texts[at] ?? "", part));
  return isSaidInParts || texts.some((text) => saysOne(text, only));
}

/** The text of a block that is one. */
function textIn(block: unknown): string | undefined {
  return isRecord(block) && block["type"] === "text" && typeof block["text"] === "string" ? block["text"] : undefined;
}

/** Whether a text is the JSON of a value. */
export function saysAll(text: string, value: unknown): boolean {
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}

function saysOne(text: string, value: unknown): boolean {
  return text === value || saysAll(text, value);
}
