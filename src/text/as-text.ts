/** A value from outside in a message. `String()` throws for an object whose `toString` is not a function. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
