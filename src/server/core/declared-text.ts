import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";

/** Connections and sessions keep what their client declares, and connections are told apart by it. */
const MAX_LENGTH = 16_384;

/** What a client declares, as text; throws where it is too long to be kept. */
export function declaredText(capabilities: ClientCapabilities): string {
  const text = JSON.stringify(capabilities);
  if (text.length <= MAX_LENGTH) return text;
  const message = `The declared capabilities of this client are longer than ${MAX_LENGTH} characters`;
  throw new NexusError("ARGUMENTS_INVALID", message, { mayHaveReached: false });
}
