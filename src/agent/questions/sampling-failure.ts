import { NexusError } from "../../errors/nexus-error.ts";

/** The server's request does not follow the specification. */
export function invalidSampling(problem: string): NexusError {
  return new NexusError("INPUT_FAILED", `The sampling request is not valid: ${problem}`);
}

/** A person, or the lack of one, has not allowed the request. Servers get the error of a user's rejection. */
export function samplingDenied(server: string, reason: string, hint?: string): NexusError {
  const message = `The request of server "${server}" to use the model was declined: ${reason}`;
  return new NexusError("DENIED", message, { server, hint });
}
