export interface FailureOptions {
  /** What to try. */
  hint?: string | undefined;
  /** What to try if repeating does no harm. */
  again?: string | undefined;
  /** The API's complete message, which may contain secrets. */
  said?: string | undefined;
  /** Whether upstream certainly did nothing. */
  outcome: "refused" | "unknown";
}

/**
 * A failed call in words for the caller: a value, because it becomes a result. Only `said` may contain secrets from
 * upstream.
 */
export class Failure {
  readonly kind = "failure";
  readonly text: string;
  readonly hint: string | undefined;
  readonly again: string | undefined;
  readonly said: string | undefined;
  readonly outcome: "refused" | "unknown";

  constructor(text: string, { hint, again, said, outcome }: FailureOptions) {
    this.text = text;
    this.hint = hint;
    this.again = again;
    this.said = said;
    this.outcome = outcome;
  }
}
