import { visible, visibleJson } from "../../text/visible.ts";
import { textChanges } from "./text-changes.ts";

/** A word that cannot be taken for anything else. */
const PLAIN = /^[^\s"\\→,;()[\]{}]+$/;
const OTHER_THAN_TEXT = /^(?:true|false|null|nothing|[-+.\d].*)$/;
const LONGEST = 80;

/** A value as a whole, on one line. Two values that differ never look the same. */
export function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string" && isPlain(value)) return value;
  return visibleJson(JSON.stringify(value));
}

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !OTHER_THAN_TEXT.test(text) && visible(text) === text;
}

/** Two texts of which the places that differ are shown instead of the whole. */
export function isLongChange(before: unknown, after: unknown): boolean {
  if (typeof before !== "string" || typeof after !== "string") return false;
  return [before, after].some((text) => text.length > LONGEST || text.includes("\n"));
}

/** What became of what. Of long texts it is only said in how many places they differ. */
export function fromTo(before: unknown, after: unknown): string {
  if (typeof before === "string" && typeof after === "string" && isLongChange(before, after)) {
    const count = textChanges(before, after).length;
    return `differs in ${count} ${count === 1 ? "place" : "places"}`;
  }
  return `${valueText(before)} → ${valueText(after)}`;
}
