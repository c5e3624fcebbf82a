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

/** A value in a message, on one line and not too long. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
