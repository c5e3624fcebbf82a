import type { NexusError } from "../../errors/nexus-error.ts";

/** What a chat has to say about a server: why it is not used, or that an option names a tool that it does not have. */
export interface ServerProblem {
  server: string;
  error: NexusError;
}
