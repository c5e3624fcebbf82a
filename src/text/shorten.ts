/** The beginning of a longer text, with `…`; never half a character. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
