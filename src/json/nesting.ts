/**
 * How deep objects and arrays of a server's message may be nested. No real definition or answer comes near it, and all
 * that reads, hashes, compares or writes messages may recurse over them.
 */
export const MAX_NESTING = 256;

/** Whether a value is nested deeper than this. Recurses no further than that, and makes nothing: every answer is checked. */
export function isNestedDeeper(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isNestedDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) if (isNestedDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}
