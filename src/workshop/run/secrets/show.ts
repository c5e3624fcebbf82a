import type { HiddenValues } from "../../../masking/hidden-values.ts";
import { textOf } from "../../expression/arithmetic.ts";
import { isDate, isDateTime } from "../../expression/calendar.ts";

/**
 * Writes a value with secrets masked. Short secrets are not masked in the caller's own values, numbers, dates and
 * complete declared fields. `value` is the source of the text, if it is different.
 */
export type Show = (text: string, value?: unknown) => string;

/** How values are shown in a call with this input. */
export function showing(hidden: HiddenValues, input: unknown): Show {
  if (!hidden.hasShort) return (text) => hidden.in(text);
  const given = textsIn(input);
  const show: Show = (text, value = text) => {
    if (Array.isArray(value)) return value.map((item) => show(textOf(item), item)).join(", ");
    const isOwn = isTyped(value) || given.has(text) || hidden.isShort(text.trim());
    return isOwn ? hidden.inOwnWords(text) : hidden.in(text);
  };
  return show;
}

/** Whether upstream cannot write free text there. */
function isTyped(value: unknown): boolean {
  if (typeof value !== "string") return typeof value !== "object";
  return isDate(value) || isDateTime(value);
}

function textsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === "string") found.add(value);
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) textsIn(item, found);
  return found;
}
