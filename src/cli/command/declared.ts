import type { InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";

/** What every command declares to servers: the terminal can fill in forms and visit pages. */
export const DECLARED: ClientCapabilities = { elicitation: { form: {}, url: {} } };

/** For commands that call nothing: a server lists to them what a call could use, and its questions are refused. */
export const UNATTENDED: InputProvider = {
  capabilities: DECLARED,
  handle({ method }) {
    throw new NexusError("INPUT_FAILED", `The server sent ${method} outside a call`);
  },
};
