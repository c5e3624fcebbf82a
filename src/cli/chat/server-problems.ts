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

/** The servers that are being started now. */
export function startingServers(host: Host): string[] {
  const ids = host.directory.visibleTo(CHAT_AGENT).map(({ id }) => id);
  return ids.filter((id) => host.find(id)?.state.kind === "starting");
}

/** A server that the chat no longer waits for. */
export function stillStarting(server: string): ServerProblem {
  const message = `server "${server}" is still starting; its tools are added when it is ready`;
  const hint = `To see what it does: nexus mcp doctor ${server}`;
  return { server, error: new NexusError("TIMEOUT", message, { server, hint, mayHaveReached: false }) };
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
