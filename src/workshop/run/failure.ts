import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import type { Show } from "./secrets/redaction.ts";

export interface FailureOptions {
  /** What to try. */
  hint?: string | undefined;
  /** What to try where it does no harm to do it again. */
  again?: string | undefined;
  /** The API's own words, whole: they may hold secrets. */
  said?: string | undefined;
  /** Whether upstream surely did nothing. */
  outcome: "refused" | "unknown";
}

/** A call that did not do what it was for, in words for whoever called: a value, since it becomes a result. Of what upstream wrote, `said` alone may hold secrets. */
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
    hint: "The author of the tool file has to check its address.",
  }),
  REDIRECT_REFUSED: (title) => ({
    text: `${title} responded with a redirect, which is not followed.`,
    hint: "The author of the tool file has to check its address.",
  }),
};

/** What a request that got no answer means for the caller. The address is nobody's business: its query holds credentials. */
export function failureOf(error: NexusError, title: string, show: Show): Failure {
  const outcome = error.details.mayHaveReached === false ? "refused" : "unknown";
  const words = WORDS[error.code]?.(title) ?? { text: show(`${error.message}.`), hint: error.hint };
  const { text, ...options } = words;
  return new Failure(text, { ...options, outcome });
}
