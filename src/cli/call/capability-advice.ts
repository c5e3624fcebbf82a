import type { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import { MISSING_CLIENT_CAPABILITY } from "../../protocol/meta.ts";

/** What the command line can do about a server that wants more of its client; the library's advice is for programs. */
export function withCapabilityAdvice(error: NexusError): NexusError {
  const { rpc } = error.details;
  if (rpc?.code !== MISSING_CLIENT_CAPABILITY) return error;
  const needed =
    isRecord(rpc.data) && isRecord(rpc.data["requiredCapabilities"]) ? rpc.data["requiredCapabilities"] : {};
  return error.amended({ hint: adviceFor(needed) });
}

function adviceFor(needed: Record<string, unknown>): string {
  if (needed["sampling"])
    return `It wants to ask a model: "nexus mcp call" takes a program that answers, --sample-with "CMD …".`;
  if (needed["roots"]) return `It wants to know your folders: add "roots" to its entry.`;
  if (needed["elicitation"])
    return `It wants to ask you something: "nexus mcp call", "prompt" and "read" can be asked.`;
  const names = capabilityNames(needed);
  return names === ""
    ? "It wants the client to have a capability, and does not say which."
    : `It wants the client to be able to: ${names}.`;
}
