/** The memory of an object or a member besides its content. */
const OVERHEAD_BYTES = 32;
/** Deeper values exceed every limit. */
const MAX_DEPTH = 1_000;

/** The approximate memory of a JSON value in bytes. */
export function weightOf(value: unknown, levels = MAX_DEPTH): number {
  if (typeof value === "string") return OVERHEAD_BYTES + value.length;
  if (typeof value !== "object" || value === null) return OVERHEAD_BYTES;
  if (levels === 0) return Infinity;
  let bytes = OVERHEAD_BYTES;
  if (Array.isArray(value)) for (const item of value as unknown[]) bytes += weightOf(item, levels - 1);
  else for (const name in value) bytes += name.length + weightOf((value as Record<string, unknown>)[name], levels - 1);
  return bytes;
}
