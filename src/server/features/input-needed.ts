import { NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { InputRequests } from "./call-context.ts";

/** Thrown through a modern call to end its round: the client is asked, and calls again with the answers. */
export class InputNeeded extends Error {
  override readonly name = "InputNeeded";
  readonly result: Result;

  constructor(inputRequests: InputRequests, requestState: string | undefined) {
    super("This call needs input from the client.");
    const state = requestState === undefined ? {} : { requestState };
    this.result = { resultType: "input_required", inputRequests, ...state };
  }
}

/**
 * Whether a thrown value is not a failure of the handler: a question for the client, or a JSON-RPC error. An error with which
 * the client answered a question is a failure of the handler.
 */
export function isProtocolOutcome(error: unknown): boolean {
  if (error instanceof InputNeeded) return true;
  return error instanceof NexusError && error.details.rpc !== undefined && error.code !== "INPUT_FAILED";
}
