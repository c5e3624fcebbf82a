/** Longer names are not typing errors, and comparing them takes long. */
const MAX_LENGTH = 200;
/** Of more names, only those with the same first letter are compared, and not all: a file may have 100,000 of them. */
const MOST_COMPARED = 1_000;

/** The name among `known` that was probably meant by `given`. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  return nearNames(given, known, 1)[0];
}

/** The names among `known` that may have been meant by `given`, nearest first. */
export function nearNames(given: string, known: readonly string[], max: number): string[] {
  return comparedNames(given, known)
    .map((name) => ({ name, ...distanceOf(given, name) }))
    .filter(({ distance, limit }) => distance < limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, max)
    .map(({ name }) => name);
}

function comparedNames(given: string, known: readonly string[]): readonly string[] {
  const similar = known.filter((name) => isComparable(given.length, name.length));
  if (similar.length <= MOST_COMPARED) return similar;
  return similar.filter((name) => name.startsWith(given.slice(0, 1))).slice(0, MOST_COMPARED);
}

/** Names of which one is more than twice as long as the other are never similar. */
function isComparable(a: number, b: number): boolean {
  return Math.max(a, b) <= Math.min(MAX_LENGTH, 2 * Math.min(a, b));
}

function distanceOf(given: string, name: string): { distance: number; limit: number } {
  // A common prefix (server, scheme, folder) is correct; it must not make the rest look similar.
  const lead = sharedLead(given, name);
  const [rest, other] = [given.slice(lead), name.slice(lead)];
  // One difference in three characters: otherwise any two short names would be similar.
  const limit = Math.floor(Math.max(rest.length, other.length) / 3) + 1;
  return { limit, distance: plain(rest) === plain(other) ? 0 : editDistance(rest, other, limit) };
}

/** The length of the common prefix of two names, up to the last dot, colon, slash or double underscore. */
function sharedLead(a: string, b: string): number {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return /^[^]*(?:[.:/]|__)/.exec(a.slice(0, same))?.[0].length ?? 0;
}

/** `maxResults`, `max_results` and `max-results` are the same word. */
function plain(name: string): string {
  return name.replaceAll(/[-_\s]/g, "").toLowerCase();
}

/** Insertions, deletions, replacements and swaps of neighbours; at most `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    [before, row] = [row, next];
    if (Math.min(...row) >= limit) return limit;
  }
  return row[b.length] ?? limit;
}
