/** A parsed expression such as `adults + count(childAges) <= 15`. Plain data. */
export type Expression =
  | { kind: "literal"; value: string | number | boolean | null }
  | { kind: "name"; name: string; column: number }
  /** `of.name`; for a spread list, the members of all its items as one list. */
  | { kind: "member"; of: Expression; name: string; column: number }
  /** `of[0]` */
  | { kind: "item"; of: Expression; index: number }
  /** `of[]`: what follows applies to each item. */
  | { kind: "spread"; of: Expression }
  | { kind: "call"; name: string; given: Expression[]; column: number }
  | { kind: "not" | "minus"; of: Expression }
  | { kind: "binary"; operator: Operator; left: Expression; right: Expression };

export type Operator = "or" | "and" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/";

/** The names of an expression: values, and functions that its provider adds (`now`, `seen` …). */
export type Scope = Readonly<Record<string, unknown>>;

/** Whether what follows applies to each item of a list. */
export function isSpread(expression: Expression): boolean {
  if (expression.kind === "spread") return true;
  return expression.kind === "member" && isSpread(expression.of);
}
