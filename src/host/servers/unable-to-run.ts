import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";

/** Why a server may not be started, whatever it would do; undefined where it may. */
export function unableToRun(definition: ServerDefinition, enabled = definition.enabled): NexusError | undefined {
  const { id, problem, trusted, origin } = definition;
  if (!enabled) {
    return new NexusError("DENIED", `Server "${id}" is switched off`, {
      server: id,
      source: origin,
      hint: `Switch it on: nexus mcp enable ${id}`,
      mayHaveReached: false,
    });
  }
  if (problem) return problem;
  if (trusted) return undefined;
  return new NexusError("UNTRUSTED", `Server "${id}" is configured by a project that is not trusted`, {
    server: id,
    source: origin,
    hint: "Look at the file; if you trust what it starts: nexus mcp trust (or --trust, for one run). It is asked for again when the file, or one it names, has changed.",
    mayHaveReached: false,
  });
}
