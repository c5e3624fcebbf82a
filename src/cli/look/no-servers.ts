import type { Configuration } from "../../config/load.ts";
import type { ServerSet } from "../command/server-set.ts";

/** What to do if there is no server. */
export function nothingToAsk(set: Pick<ServerSet, "configuration" | "nothingStored">): string {
  return set.nothingStored ?? nothingConfigured(set.configuration);
}

/** The same where only files are concerned. */
export function nothingConfigured({ servers, files }: Pick<Configuration, "servers" | "files">): string {
  if (servers.length > 0) {
    const [first] = servers;
    return `All servers are disabled. Enable one: nexus mcp enable ${first?.id ?? "NAME"}`;
  }
  const what = files.length === 0 ? "No servers are configured." : `No servers are configured in ${namesOf(files)}.`;
  return `${what}
  add a server:                       nexus mcp add NAME -- COMMAND …
  import servers of other programs:   nexus mcp import
  use a server without configuration: nexus mcp tools --stdio "COMMAND …"`;
}

function namesOf(files: Configuration["files"]): string {
  return files.map(({ file }) => file).join(", ");
}
