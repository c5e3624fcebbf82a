import { NexusError } from "../errors/nexus-error.ts";

/** A message over the limit was, or is being, sent. */
export function tooLarge(bytes: number, limit: number): NexusError {
  return new NexusError(
    "MESSAGE_TOO_LARGE",
    `The server sent a message of ${bytes} bytes or more; the limit is ${limit}`,
    {
      hint: "Request less data at a time, or raise the limit with maxMessageBytes.",
      mayHaveReached: true,
    },
  );
}
