import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";

/** The capabilities of every command: the terminal can show forms and URLs. */
export const DECLARED: ClientCapabilities = { elicitation: { form: {}, url: {} } };

/** For commands that call nothing: servers list what a call could use, and their questions are refused. */
export const UNATTENDED: InputProvider = {
  capabilities: DECLARED,
  handle({ method }) {
    throw new NexusError("INPUT_FAILED", `The server sent ${method} outside a call`);
  },
};
