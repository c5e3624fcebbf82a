import { NexusError } from "../../errors/nexus-error.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
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

/** Not the handler's own failure: a question for the client, or an answer in the protocol's words. */
export function isOfProtocol(error: unknown): boolean {
  return error instanceof InputNeeded || (error instanceof NexusError && error.details.rpc !== undefined);
}

/** What a client must have declared to be asked these, in the shape of its own capabilities. */
export function missingCapabilities(
  requests: InputRequests,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  const missing: ClientCapabilities = {};
  for (const { method, params } of Object.values(requests)) {
    if (method === "sampling/createMessage" && !declared.sampling) missing.sampling = {};
    if (method === "sampling/createMessage" && params?.["tools"] && !declared.sampling?.tools)
      missing.sampling = { tools: {} };
    if (method === "roots/list" && !declared.roots) missing.roots = {};
    if (method === "elicitation/create") {
      const { elicitation } = declared;
      if (params?.["mode"] === "url") {
        if (!elicitation?.url) missing.elicitation = { url: {} };
      } else if (!elicitation) missing.elicitation = {};
      // A client that declares URLs alone does not show forms.
      else if (elicitation.url && !elicitation.form) missing.elicitation = { form: {} };
    }
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}
