/** One step of a tool: a call of another tool of the file, or several calls of it. */
export interface StepSpec {
  /** A tool of this file that has a request. */
  call: string;
  /** Values, with `= expression` over `input`, `settings` and the earlier steps by name. */
  arguments: Record<string, unknown>;
  /** An expression; if it is not true, the step is left out and its value is null. */
  when?: string;
  /** One call for each item of a list; the value of the step is the list of results. */
  each?: { list: string; as: string; max: number };
  /** Reads again until a condition on the answer is true. */
  until?: { that: string; everyMs: number; atMostMs: number };
}

/** Gathers the pages of a list into one result. */
export interface PagingSpec {
  /** The list in the answer: a field, or a path of fields with dots. */
  items: string;
  next: NextPage;
  /** An expression over the answer that is true for the last page. */
  last?: string;
  maxPages: number;
  /** No further page is requested once there are this many items. */
  maxItems?: number;
}

/**
 * How the next page is requested. `to`: the input field for it. `size`: the input field with the size of a page, or that
 * size; a shorter page is the last. `link`: an address in the answer's `Link` header, or at `from` in the answer.
 */
export type NextPage =
  | { kind: "cursor"; from: string; to: string }
  | { kind: "page"; to: string; first: number; size?: string | number }
  | { kind: "offset"; to: string; size?: string | number }
  | { kind: "link"; from?: string };

/** A call before a write, which confirms what the caller expects. */
export interface ConfirmSpec {
  /** The input field with the caller's expectation, a number. It is sent with the confirmed value. */
  field: string;
  /** A tool of this file with the effect `read`. */
  call: string;
  /** Its arguments: values, with `= expression` over the input. */
  arguments: Record<string, unknown>;
  /** An expression over `answer` and `input`: the caller's choice in the answer, or null. */
  find: string;
  /** An expression over `found`, `answer` and `input`: the current value. */
  actual: string;
  /** Templates with `expected`, `actual`, `found`, `input`. */
  ask: string;
  gone: string;
}
