import { NexusError } from "../../errors/nexus-error.ts";
import { parsePattern, serverNamedBy, toolNamedBy } from "../../host/directory/policy.ts";
import { callsOthers } from "../../host/directory/access-target.ts";
import type { Host } from "../../host/host.ts";
import { nearestName } from "../../text/nearest-name.ts";

/** The options with patterns of tools. */
export interface ToolPatterns {
  deny?: readonly string[] | undefined;
  allow?: readonly string[] | undefined;
}

const OPTIONS = ["deny", "allow"] as const;

/** Throws NAME_UNKNOWN for a pattern whose server is not configured: a misspelt --deny would protect nothing. */
export function requireKnownServers(patterns: ToolPatterns, ids: readonly string[]): void {
  for (const { option, text, server } of parsed(patterns)) {
    if (server === undefined || ids.includes(server)) continue;
    const near = nearestName(server, ids);
    throw new NexusError("NAME_UNKNOWN", `--${option} ${text}: there is no server "${server}"`, {
      server,
      hint: `${near === undefined ? "" : `Did you mean "${near}"? `}"nexus mcp servers" lists them.`,
      mayHaveReached: false,
    });
  }
}

/** The patterns that name a tool which this connected server does not list. It may list it later, so they are no errors. */
export function missingTools(host: Host, id: string, patterns: ToolPatterns): ServerProblem[] {
  const { tools } = host.offered(id);
  // A tool that calls others is called with names that are not listed.
  if (tools.some((tool) => callsOthers(tool).callsBy !== undefined)) return [];
  const names = tools.map(({ name }) => name);
  return parsed(patterns)
    .filter(({ server, tool }) => server === id && tool !== undefined && !names.includes(tool))
    .map(({ option, text, tool = "" }) => {
      const near = nearestName(tool, names);
      const message = `--${option} ${text}: server "${id}" has no tool "${tool}"`;
      const hint = near === undefined ? undefined : `Did you mean "${id}.${near}"?`;
      return {
        server: id,
        error: new NexusError("NAME_UNKNOWN", message, { server: id, hint, mayHaveReached: false }),
      };
    });
}

function parsed(patterns: ToolPatterns) {
  return OPTIONS.flatMap((option) =>
    (patterns[option] ?? []).map((text) => {
      const pattern = parsePattern(text);
      return { option, text, server: serverNamedBy(pattern), tool: toolNamedBy(pattern) };
    }),
  );
}

/** What a chat has to say about a server: why it is not used, or that an option names a tool that it does not have. */
export interface ServerProblem {
  server: string;
  error: NexusError;
}
