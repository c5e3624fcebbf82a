import type { NexusError } from "../../errors/nexus-error.ts";
import type { Era } from "../../protocol/revisions.ts";

/** What a configured server is doing. */
export type ServerState =
  /** Switched off: its tools are gone, a connection it had stays. */
  | { kind: "disabled" }
  /** Configured by a project that is not trusted. */
  | { kind: "waiting-for-trust" }
  /** Connected on first use. */
  | { kind: "idle" }
  | { kind: "starting" }
  | { kind: "ready"; era: Era; protocolVersion: string }
  /** Connected, but a list of it could not be read; what was known of it before is kept. */
  | { kind: "degraded"; era: Era; protocolVersion: string; error: NexusError }
  /** Not connected. `retryAt`, in milliseconds since 1970, is when it is tried again by itself. */
  | { kind: "failed"; error: NexusError; retryAt?: number }
  | { kind: "stopped" };
