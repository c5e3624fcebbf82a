import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";

/** Why a server may not be started; undefined if it may. */
export function unableToRun(definition: ServerDefinition, enabled = definition.enabled): NexusError | undefined {
  const { id, problem, trusted, origin } = definition;
  if (!enabled) {
    return new NexusError("DENIED", `Server "${id}" is disabled`, {
      server: id,
      source: origin,
      hint: `Enable it: nexus mcp enable ${id}`,
      mayHaveReached: false,
    });
  }
  if (problem) return problem;
  if (trusted) return undefined;
  return new NexusError("UNTRUSTED", `Server "${id}" is configured by a project that is not trusted`, {
    server: id,
    source: origin,
    hint: "Review the file and trust it: nexus mcp trust (or --trust, for one run). A change of the file, or of a file it names, must be trusted again.",
    mayHaveReached: false,
  });
}
