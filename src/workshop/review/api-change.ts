/** The kind of a change, for the reviewer. */
export type ApiChangeKind =
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
  | "fake changed"
  | "document changed"
  | "description changed"
  | "other";

/** One difference between the approved and the current version. */
export interface ApiChange {
  kind: ApiChangeKind;
  /** The tool and its part, or a place in the file. */
  path: string;
  /** In words. Long texts and compound values are only in `before` and `after`. */
  message: string;
  /** The complete values; undefined if there is none. */
  before?: unknown;
  after?: unknown;
}

/** A change with its values. */
export function changeOf(
  words: Pick<ApiChange, "kind" | "path" | "message">,
  [before, after]: readonly [before?: unknown, after?: unknown] = [],
): ApiChange {
  return { ...words, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}
