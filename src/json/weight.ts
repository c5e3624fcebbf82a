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

/** Whether a JSON value consists of more values than this, each object, list, text, number … counted. Stops there. */
export function hasMoreValues(value: unknown, most: number): boolean {
  let left = most;
  const count = (each: unknown): boolean => {
    if (--left < 0) return true;
    if (typeof each !== "object" || each === null) return false;
    if (Array.isArray(each)) return each.length > left || each.some(count);
    for (const name in each) if (count((each as Record<string, unknown>)[name])) return true;
    return false;
  };
  return count(value);
}
