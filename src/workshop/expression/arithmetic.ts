/** Null, false, zero, empty text and empty lists are false. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== null && value !== undefined && value !== false && value !== 0 && value !== "";
}

/** A value as text for people: lists with commas, null as nothing. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "function") return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
