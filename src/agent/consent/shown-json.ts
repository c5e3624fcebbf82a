import { isRecord } from "../../json/is-record.ts";
import { visibleJson } from "../../text/visible.ts";

/** A value from outside as text for people: invisible characters are escaped. */
export interface ShownJson {
  /** Long texts in it are shortened in the middle, with the number of omitted characters. */
  text: string;
  isShortened: boolean;
  /** Everything, for people who want to read it. */
  whole: string;
}

const MAX_STRING = 1_000;
const MAX_TEXT = 8_000;

/**
 * JSON with indentation. The beginning and the end of each long text are kept, so that nothing can be hidden behind
 * a long beginning without notice.
 */
export function shownJson(value: unknown): ShownJson {
  const whole = jsonText(value);
  const text = cutMiddle(jsonText(shortStrings(value)), MAX_TEXT);
  return { text, isShortened: text !== whole, whole };
}

function jsonText(value: unknown): string {
  // Lines are only those of the indentation: line breaks inside a text are escaped in JSON.
  const lines = (JSON.stringify(value, undefined, 2) ?? "undefined").split("\n");
  return lines.map(visibleJson).join("\n");
}

function shortStrings(value: unknown): unknown {
  if (typeof value === "string") return cutMiddle(value, MAX_STRING);
  if (Array.isArray(value)) return value.map(shortStrings);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [cutMiddle(key, MAX_STRING), shortStrings(member)]);
  return Object.fromEntries(members) as Record<string, unknown>;
}

/** A long text without its middle; never half a character. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, Math.ceil((most * 2) / 3)).replace(/[\uD800-\uDBFF]$/, "");
  const end = text.slice(text.length - Math.floor(most / 3)).replace(/^[\uDC00-\uDFFF]/, "");
  return `${start} … ${text.length - start.length - end.length} characters omitted … ${end}`;
}
