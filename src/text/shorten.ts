/** The beginning of a longer text, with `…`; never half a character. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** "a, b, c and 4 more" */
export function joinFirst(names: readonly string[], most = 5): string {
  const rest = names.length - most;
  return rest > 0 ? `${names.slice(0, most).join(", ")} and ${rest} more` : names.join(", ");
}
