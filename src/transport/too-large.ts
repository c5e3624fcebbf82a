import { NexusError } from "../errors/nexus-error.ts";

/** The error for a message over the limit. */
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
