import { NexusError } from "../errors/nexus-error.ts";
import { exceededLimit } from "../json/nesting.ts";

/** What every message may hold, however low its limit in bytes is. */
const FEWEST_VALUES = 200_000;
const FEWEST_MEMBERS = 20_000;
/** So short a message has few of both: a value takes two characters or more, and a member five. */
export const ALWAYS_FEW = Math.min(FEWEST_VALUES * 2, FEWEST_MEMBERS * 5);
/** A limit in bytes allows a value for so many of them: 1,048,576 values for 10 MB. */
const BYTES_OF_A_VALUE = 10;
/** And a member of one object for so many: 52,428. Going through an object takes longer the more members it has. */
const BYTES_OF_A_MEMBER = 200;

/** The error for a message over the limit. */
export function tooLarge(bytes: number, limit: number): NexusError {
  return refusal(`The server sent a message of ${bytes} bytes or more; the limit is ${limit}`);
}

/**
 * The error for a message with more values than its limit in bytes allows. Found out before it is parsed, because ten
 * megabytes of empty objects take hundreds of megabytes of memory, and hold up everything else for seconds.
 */
export function tooManyValues(json: string, maxBytes: number): NexusError | undefined {
  const values = Math.max(FEWEST_VALUES, Math.floor(maxBytes / BYTES_OF_A_VALUE));
  const members = Math.max(FEWEST_MEMBERS, Math.floor(maxBytes / BYTES_OF_A_MEMBER));
  const exceeded = exceededLimit(json, { depth: Infinity, values, members });
  if (exceeded === undefined) return undefined;
  const most = exceeded === "values" ? `${values} values` : `${members} members in one object`;
  return refusal(`The server sent a message with more than ${most}`);
}

function refusal(message: string): NexusError {
  return new NexusError("MESSAGE_TOO_LARGE", message, {
    hint: "Request less data at a time, or raise the limit with maxMessageBytes.",
    mayHaveReached: true,
  });
}
