import type { ServerStatus } from "../../host/host.ts";

/** A server's state in a few words. */
export function stateWords({ id, state }: ServerStatus): string {
  switch (state.kind) {
    case "ready":
      return `ready (${state.protocolVersion})`;
    case "degraded":
      return `ready (${state.protocolVersion}), but ${state.error.message}`;
    case "failed":
      return `failed: ${state.error.message}`;
    case "waiting-for-trust":
      return `not trusted; review its file: nexus mcp trust`;
    case "starting":
      return "starting";
    case "idle":
      return "starts on first use";
    case "paused":
      return "paused, starts on next use";
    case "disabled":
      return `disabled; to enable it: nexus mcp enable ${id}`;
    case "stopped":
      return "stopped";
  }
}
