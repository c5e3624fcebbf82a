import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ServerState } from "./server-state.ts";
import type { SupervisorState } from "./supervisor-machine.ts";

/** A state of the machine together with the state that is shown for it while the server is switched on. */
export interface ServerSituation {
  readonly machine: SupervisorState;
  readonly shown: ServerState;
}

/** What an event reports about a connection: it is up, or why it is not. */
export type ReportedState = Extract<ServerState, { kind: "ready" | "degraded" | "failed" }>;

export function firstSituation({ problem, trusted }: ServerDefinition): ServerSituation {
  if (problem) return { machine: "blocked", shown: { kind: "failed", error: problem } };
  return trusted ? situationOf("idle") : { machine: "blocked", shown: { kind: "waiting-for-trust" } };
}

/** The situation in which the machine is in `to`. The only place where the shown state follows the machine. */
export function nextSituation(before: ServerSituation, to: SupervisorState, reported?: ReportedState): ServerSituation {
  if (reported?.kind === to) return { machine: to, shown: reported };
  if (to === before.machine) return before;
  if (to === "idle" || to === "paused" || to === "starting" || to === "stopped") return situationOf(to);
  if (to === "closing") return { machine: to, shown: before.shown };
  throw new NexusError("INTERNAL", `A server became ${to} from ${before.machine} without a report`);
}

function situationOf(kind: "idle" | "paused" | "starting" | "stopped"): ServerSituation {
  return { machine: kind, shown: { kind } };
}
