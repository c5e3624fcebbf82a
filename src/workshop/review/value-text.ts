import { visible, visibleJson } from "../../text/visible.ts";
import { textChanges } from "./text-changes.ts";

/** A word that needs no quotes. */
const PLAIN = /^[^\s"\\→,;()[\]{}]+$/;
const OTHER_THAN_TEXT = /^(?:true|false|null|nothing|[-+.\d].*)$/;
const LONGEST = 80;

/** A complete value on one line. Two different values never look the same. */
export function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string" && isPlain(value)) return value;
  return visibleJson(JSON.stringify(value));
}

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !OTHER_THAN_TEXT.test(text) && visible(text) === text;
}

/** Whether the changed places are shown instead of the whole texts. */
export function isLongChange(before: unknown, after: unknown): boolean {
  if (typeof before !== "string" || typeof after !== "string") return false;
  return [before, after].some((text) => text.length > LONGEST || text.includes("\n"));
}

/** The change in words. For long texts, only the number of places. */
export function fromTo(before: unknown, after: unknown): string {
  if (typeof before === "string" && typeof after === "string" && isLongChange(before, after)) {
    const count = textChanges(before, after).length;
    return `differs in ${count} ${count === 1 ? "place" : "places"}`;
  }
  return `${valueText(before)} → ${valueText(after)}`;
}
