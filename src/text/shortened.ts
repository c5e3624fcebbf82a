/** The beginning of a text that is longer; never half a character. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
