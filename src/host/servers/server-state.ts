import type { NexusError } from "../../errors/nexus-error.ts";
import type { Era } from "../../protocol/revisions.ts";

/** The state of a configured server. */
export type ServerState =
  /**
   * Its tools are removed. If the configuration disables it, its connections end when nobody uses them; `host.toggle` keeps
   * them open.
   */
  | { kind: "disabled" }
  /** Configured by a project that is not trusted. */
  | { kind: "waiting-for-trust" }
  /** Connected on first use. */
  | { kind: "idle" }
  /** Its process was stopped to make room for others. What it lists is kept; it starts again on its next use. */
  | { kind: "paused" }
  | { kind: "starting" }
  | { kind: "ready"; era: Era; protocolVersion: string }
  /**
   * Connected, but one of its lists could not be read and the last known list is kept; or its tool file has changed and is not
   * approved, and the approved version is served.
   */
  | { kind: "degraded"; era: Era; protocolVersion: string; error: NexusError }
  /** Not connected. `retryAt` is the time of the next attempt, in milliseconds since 1970. */
  | { kind: "failed"; error: NexusError; retryAt?: number }
  | { kind: "stopped" };

export function isConnected(state: ServerState): state is Extract<ServerState, { era: Era }> {
  return state.kind === "ready" || state.kind === "degraded";
}
