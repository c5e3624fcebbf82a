/** What kind of difference it is, for somebody who has to agree with it. */
export type ChangeKind =
  | "tool added"
  | "tool removed"
  | "effect raised"
  | "effect lowered"
  | "endpoint added"
  | "endpoint removed"
  | "secret used"
  | "secret dropped"
  | "input narrowed"
  | "input widened"
  | "field removed"
  | "field added"
  | "field changed"
  | "wire changed"
  | "limits changed"
  | "answer changed"
  | "document changed"
  | "description changed"
  | "other";

/** One difference between what was approved and what would be served. */
export interface Change {
  kind: ChangeKind;
  /** Where: the tool and what of it, or a place in the file. */
  path: string;
  /** In words, with both values where that helps. */
  message: string;
}

/** What deserves the longest look comes first. */
const ORDER: readonly ChangeKind[] = [
  "effect raised",
  "endpoint added",
  "secret used",
  "tool added",
  "tool removed",
  "field removed",
  "input narrowed",
  "field changed",
  "wire changed",
  "answer changed",
  "limits changed",
  "input widened",
  "field added",
  "effect lowered",
  "endpoint removed",
  "secret dropped",
  "document changed",
  "other",
  "description changed",
];

export function byWeight(changes: readonly Change[]): Change[] {
  return [...changes].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

const LONGEST = 80;
/** What stands before a difference, so that people find it. */
const LEAD = 20;

/** A value in a message, on one line and not too long. */
export function shown(value: unknown): string {
  return shortened(lineOf(value));
}

/** What became of what. Of long values the part that differs is shown: nobody agrees with an end that was cut off. */
export function fromTo(before: unknown, after: unknown): string {
  if (Array.isArray(before) && Array.isArray(after)) return goneAndNew(before, after);
  const [old, now] = [lineOf(before), lineOf(after)];
  const start = Math.max(old.length, now.length) > LONGEST ? sharedStart(old, now) - LEAD : 0;
  const from = (line: string) => shortened(start > 0 ? `…${line.slice(start)}` : line);
  return `${from(old)} → ${from(now)}`;
}

function goneAndNew(before: readonly unknown[], after: readonly unknown[]): string {
  const [old, now] = [before.map(lineOf), after.map(lineOf)];
  const gone = old.filter((line) => !now.includes(line));
  const added = now.filter((line) => !old.includes(line));
  const [only, more] = [gone[0], added[0]];
  if (only !== undefined && more !== undefined && gone.length + added.length === 2) return fromTo(only, more);
  const parts = [
    ...gone.map((line) => `no longer ${shortened(line)}`),
    ...added.map((line) => `now ${shortened(line)}`),
  ];
  return parts.length === 0 ? `${shown(before)} → ${shown(after)}` : parts.join("; ");
}

function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function lineOf(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.replaceAll(/\s+/g, " ");
}

function shortened(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
