/** What an object, or a member of one, takes beside what it holds. */
const OVERHEAD_BYTES = 32;

/** About how many bytes of memory a JSON value takes. Without recursion: what servers send may be nested deeply. */
export function weightOf(value: unknown): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const each = open.pop();
    bytes += OVERHEAD_BYTES;
    if (typeof each === "string") bytes += each.length;
    else if (Array.isArray(each)) for (const item of each as unknown[]) open.push(item);
    else if (typeof each === "object" && each !== null) {
      for (const [name, member] of Object.entries(each)) {
        bytes += name.length;
        open.push(member);
      }
    }
  }
  return bytes;
}
