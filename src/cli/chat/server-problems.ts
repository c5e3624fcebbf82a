import { NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import { CHAT_AGENT } from "./chat-state.ts";

/** What a chat has to say about a server: why it is not used, or that an option names a tool that it does not have. */
export interface ServerProblem {
  server: string;
  error: NexusError;
}

export function failedServers(host: Host): ServerProblem[] {
  return host.directory.visibleTo(CHAT_AGENT).flatMap(({ id: server }) => {
    const state = host.find(server)?.state;
    if (state?.kind === "failed") return [{ server, error: state.error }];
    return state?.kind === "waiting-for-trust" ? [{ server, error: untrusted(server) }] : [];
  });
}

/** Throws why the first one failed if none of the servers that were named can be used: an answer without them is useless. */
export function requireOneOf(names: readonly string[], host: Host): void {
  const failed = new Map(failedServers(host).map(({ server, error }) => [server, error]));
  const errors = names.map((name) => failed.get(host.directory.find(name)?.id ?? name));
  const [first] = errors;
  if (first && !errors.includes(undefined)) throw first;
}

function untrusted(server: string): NexusError {
  return new NexusError("UNTRUSTED", `Server "${server}" is not trusted`, {
    server,
    hint: "Review its file: nexus mcp trust",
    mayHaveReached: false,
  });
}
