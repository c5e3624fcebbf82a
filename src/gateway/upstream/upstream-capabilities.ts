import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import type { Caller } from "../../server/core/core.ts";

/** The properties of a caller that select the connection of its calls. */
export type CallerOutline = Pick<Caller, "era" | "owner" | "capabilities" | "ask">;

/** Calls without capabilities share their owner's plain connection. */
export const NO_CAPABILITIES: ClientCapabilities = {};

/**
 * The capabilities that a server may use with this caller: those it declared, without what concerns only the caller and
 * the gateway. The members are sorted, so that callers with equal capabilities share a connection.
 */
export function capabilitiesFor({ era, capabilities, ask }: CallerOutline): ClientCapabilities {
  const members = Object.keys(capabilities);
  if (members.length === 0) return NO_CAPABILITIES;
  // A legacy caller without a stream cannot be asked, even if it declared the capability.
  const canBeAsked = era === "modern" || ask !== undefined;
  const passed: ClientCapabilities = {};
  for (const member of members.sort()) {
    const value = capabilities[member];
    if (value === undefined) continue;
    // Tasks of 2025-11-25 that run at the client are not offered to servers.
    if (member === "tasks") continue;
    if (!canBeAsked && ASKED.has(member)) continue;
    // The caller's changes of roots do not reach this connection, so they are not announced.
    passed[member] = member === "roots" ? {} : value;
  }
  return Object.keys(passed).length === 0 ? NO_CAPABILITIES : passed;
}

/**
 * The same for a call to a modern server: a caller of 2025-11-25 that cannot be asked can still get an error with the
 * URLs to visit.
 */
export function capabilitiesForModern(caller: CallerOutline, declared: ClientCapabilities): ClientCapabilities {
  const { era, capabilities, ask } = caller;
  if (era === "modern" || ask || capabilities.elicitation?.url === undefined) return declared;
  return { ...declared, elicitation: { url: capabilities.elicitation.url } };
}

/** The capabilities for `initialize`: a legacy server does not know the tasks extension. */
export function legacyCapabilities(capabilities: ClientCapabilities): ClientCapabilities {
  const { extensions, ...others } = capabilities;
  if (extensions?.[TASKS_EXTENSION] === undefined) return capabilities;
  const { [TASKS_EXTENSION]: _tasks, ...rest } = extensions;
  if (Object.keys(rest).length > 0) return { ...others, extensions: rest };
  return Object.keys(others).length === 0 ? NO_CAPABILITIES : others;
}

const ASKED = new Set(["elicitation", "sampling", "roots"]);

/** Whether a server can ask anything. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

export function knowsTasks({ extensions }: ClientCapabilities): boolean {
  return extensions?.[TASKS_EXTENSION] !== undefined;
}
