/** A run of entries that was replaced by another one; either may be empty. Ends are exclusive. */
export interface ChangedRun {
  before: { from: number; to: number };
  after: { from: number; to: number };
}

/** Larger tables are not compared: the whole middle counts as changed. */
const MAX_CELLS = 4_000_000;

/** The differences of two lists with as many unchanged entries as possible. Entries are compared as text. */
export function changedRuns(before: readonly string[], after: readonly string[]): ChangedRun[] {
  const start = sharedLength(before.length, after.length, (index) => before[index] === after[index]);
  const rest = sharedLength(
    before.length - start,
    after.length - start,
    (index) => before[before.length - 1 - index] === after[after.length - 1 - index],
  );
  const [old, now] = [before.slice(start, before.length - rest), after.slice(start, after.length - rest)];
  if (old.length === 0 && now.length === 0) return [];
  const kept = old.length * now.length > MAX_CELLS ? [] : keptEntries(old, now);
  const runs = runsBetween([...kept, [old.length, now.length]], start);
  runs.forEach((run, index) => slide(run, { before, after, next: runs[index + 1] }));
  return runs;
}

/**
 * Moves an addition or a removal back as far as its meaning stays the same, so that a sentence ends with its own full
 * stop.
 */
function slide(
  { before: was, after: is }: ChangedRun,
  { before, after, next }: { before: readonly string[]; after: readonly string[]; next: ChangedRun | undefined },
): void {
  const isAdded = was.from === was.to;
  if (!isAdded && is.from !== is.to) return;
  const [run, list, end] = isAdded
    ? [is, after, next?.after.from ?? after.length]
    : [was, before, next?.before.from ?? before.length];
  while (run.to < end && list[run.from] === list[run.to]) {
    for (const side of [was, is]) {
      side.from++;
      side.to++;
    }
  }
}

function sharedLength(a: number, b: number, isSame: (index: number) => boolean): number {
  let length = 0;
  while (length < a && length < b && isSame(length)) length++;
  return length;
}

/** The positions of the longest common subsequence. */
function keptEntries(old: readonly string[], now: readonly string[]): [number, number][] {
  const width = now.length + 1;
  // The number of entries that can be kept from here on.
  const counts = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => counts[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      counts[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const kept: [number, number][] = [];
  for (let row = 0, column = 0; row < old.length && column < now.length;) {
    if (old[row] === now[column]) kept.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return kept;
}

function runsBetween(kept: readonly (readonly [number, number])[], start: number): ChangedRun[] {
  const runs: ChangedRun[] = [];
  let [row, column] = [0, 0];
  for (const [nextRow, nextColumn] of kept) {
    if (nextRow > row || nextColumn > column) {
      runs.push({
        before: { from: start + row, to: start + nextRow },
        after: { from: start + column, to: start + nextColumn },
      });
    }
    [row, column] = [nextRow + 1, nextColumn + 1];
  }
  return runs;
}

/** A part of two texts: in both, or in one of them. */
export interface TextPiece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** What is different between two texts: by lines if they have several, otherwise by words. */
export function textDifference(before: string, after: string): TextPiece[] {
  const parts = before.includes("\n") || after.includes("\n") ? /[^\n]*\n|[^\n]+/g : /\s+|[^\s]+/g;
  const [old, now] = [before.match(parts) ?? [], after.match(parts) ?? []];
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const { before: was, after: is } of changedRuns(old, now)) {
    pieces.push({ kind: "same", text: old.slice(at, was.from).join("") });
    pieces.push({ kind: "removed", text: old.slice(was.from, was.to).join("") });
    pieces.push({ kind: "added", text: now.slice(is.from, is.to).join("") });
    at = was.to;
  }
  pieces.push({ kind: "same", text: old.slice(at).join("") });
  return pieces.filter(({ text }) => text !== "");
}
