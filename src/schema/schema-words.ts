import { shorten } from "../text/shorten.ts";

const LONGEST = 60;

/** A value as it is shown in a message: its JSON, cut where it gets long. */
export function shown(value: unknown): string {
  return shorten(JSON.stringify(value) ?? "nothing", LONGEST);
}

export function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** `a`, `a or b`, `one of a, b, c`. */
export function oneOf(choices: readonly string[]): string {
  if (choices.length < 3) return choices.join(" or ");
  const more = choices.length > 10 ? ` and ${choices.length - 10} more` : "";
  return `one of ${choices.slice(0, 10).join(", ")}${more}`;
}

/** The way to a value as a program would write it: `filters[2].name`. */
export function nameOf(segments: readonly (string | number)[]): string {
  return segments
    .map((segment) => (typeof segment === "number" ? `[${segment}]` : `.${segment}`))
    .join("")
    .replace(/^\./, "");
}
