import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import type { Show } from "./completed-values.ts";

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

type Words = Pick<Failure, "text"> & Omit<FailureOptions, "outcome">;

const LATER = "Try again later.";
const WORDS: Partial<Record<ErrorCode, (title: string) => Words>> = {
  TIMEOUT: (title) => ({ text: `${title} did not respond in time.`, again: LATER }),
  CONNECTION_FAILED: (title) => ({ text: `${title} could not be reached; the request was not sent.`, again: LATER }),
  CONNECTION_LOST: (title) => ({
    text: `${title} closed the connection before its response was complete.`,
    again: LATER,
  }),
  MESSAGE_TOO_LARGE: (title) => ({
    text: `${title} sent a response that is larger than the limit.`,
    again: "Ask for less at once.",
  }),
  ADDRESS_REFUSED: (title) => ({
    text: `${title} has an address that may not be reached; the request was not sent.`,
    hint: `The author of the tool file has to check its address. An internal one is allowed where the server is configured, in "public_only" of its entry; what was published over the network cannot have one.`,
  }),
  REDIRECT_REFUSED: (title) => ({
    text: `${title} responded with a redirect, which is not followed.`,
    hint: "The author of the tool file has to check its address.",
  }),
};

/** The failure for a request without an answer. The address is not shown, because its query may have credentials. */
export function failureOf(error: NexusError, title: string, show: Show): Failure {
  const outcome = error.details.mayHaveReached === false ? "refused" : "unknown";
  const words = WORDS[error.code]?.(title) ?? { text: show(`${error.message}.`), hint: error.hint };
  const { text, ...options } = words;
  return new Failure(text, { ...options, outcome });
}
