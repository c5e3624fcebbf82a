import { messageOf, NexusError } from "../../errors/nexus-error.ts";

/** The server's request does not follow the specification. */
export function invalidSampling(problem: string): NexusError {
  return new NexusError("INPUT_FAILED", `The sampling request is not valid: ${problem}`);
}

/** A person, or the lack of one, has not allowed the request. Servers get the error of a user's rejection. */
export function samplingDenied(server: string, reason: string, hint?: string): NexusError {
  const message = `The request of server "${server}" to use the model was declined: ${reason}`;
  return new NexusError("DENIED", message, { server, hint });
}

/** The codes of a provider's failures must not be taken for failures of the server that asked. */
export function samplingFailed(server: string, model: string, cause: unknown): NexusError {
  const message = `Server "${server}" asked for an answer of the model ${model}, which failed: ${messageOf(cause)}`;
  const hint = cause instanceof NexusError ? cause.details.hint : undefined;
  return new NexusError("INPUT_FAILED", message, { server, hint, cause });
}
