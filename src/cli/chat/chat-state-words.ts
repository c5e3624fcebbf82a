import type { ServerStatus } from "../../host/host.ts";
import { stateWords } from "../command/state-words.ts";

/** A server's state and what to do about it, for a person in a chat. */
export function chatStateWords(server: ServerStatus): string {
  const { id, state } = server;
  if (state.kind === "disabled") return `disabled; to enable it: /mcp enable ${id}`;
  const next = state.kind === "failed" ? `. Next: /mcp retry ${id}, /mcp logs ${id}, or nexus mcp doctor ${id}` : "";
  return `${stateWords(server)}${next}`;
}
