import type { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import { MISSING_CLIENT_CAPABILITY } from "../../protocol/meta.ts";

/** Replaces the library's hint for a missing capability by one for the command line. */
export function withCapabilityAdvice(error: NexusError): NexusError {
  const { rpc } = error.details;
  if (rpc?.code !== MISSING_CLIENT_CAPABILITY) return error;
  const needed =
    isRecord(rpc.data) && isRecord(rpc.data["requiredCapabilities"]) ? rpc.data["requiredCapabilities"] : {};
  return error.amended({ hint: adviceFor(needed) });
}

function adviceFor(needed: Record<string, unknown>): string {
  if (needed["sampling"])
    return `The server wants to use a model. Use "nexus mcp call" with a program that answers: --sample-with "CMD …".`;
  if (needed["roots"])
    return `The server asks for your folders. Add "roots" to its entry, or name them when you add it: nexus mcp add … --root DIR`;
  if (needed["elicitation"]) return `The server wants to ask you a question. Use "nexus mcp call", "prompt" or "read".`;
  const names = capabilityNames(needed);
  return names === ""
    ? "The server requires a client capability and does not say which one."
    : `The server requires these client capabilities: ${names}.`;
}
