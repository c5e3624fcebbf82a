import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import type { Caller } from "../../server/core/core.ts";

/** What decides which connection a caller's calls go over. */
export type CallerOutline = Pick<Caller, "era" | "owner" | "capabilities" | "ask">;

/** Nothing is declared: such calls share their owner's plain connection. */
export const NO_CAPABILITIES: ClientCapabilities = {};

/**
 * What a server may ask of this caller: no more than it declared, without what was between it and the gateway. Members
 * stand in one order, so that callers who can do the same share a connection.
 */
export function capabilitiesFor({ era, capabilities, ask }: CallerOutline): ClientCapabilities {
  const members = Object.keys(capabilities);
  if (members.length === 0) return NO_CAPABILITIES;
  // A legacy caller without a stream cannot be asked, whatever it once declared.
  const canBeAsked = era === "modern" || ask !== undefined;
  const passed: ClientCapabilities = {};
  for (const member of members.sort()) {
    const value = capabilities[member];
    if (value === undefined) continue;
    // Tasks of 2025-11-25 that clients host are not offered to servers.
    if (member === "tasks") continue;
    if (!canBeAsked && ASKED.has(member)) continue;
    // Whether roots change is told on a connection of the caller's own, which this is not.
    passed[member] = member === "roots" ? {} : value;
  }
  return Object.keys(passed).length === 0 ? NO_CAPABILITIES : passed;
}

/**
 * The same for a call to a modern server, which asks with its answer: a caller of 2025-11-25 that cannot be asked can still
 * be told which pages to visit.
 */
export function capabilitiesForModern(caller: CallerOutline, declared: ClientCapabilities): ClientCapabilities {
  const { era, capabilities, ask } = caller;
  if (era === "modern" || ask || capabilities.elicitation?.url === undefined) return declared;
  return { ...declared, elicitation: { url: capabilities.elicitation.url } };
}

/** What is declared at `initialize`: the tasks extension means nothing to a legacy server. */
export function legacyCapabilities(capabilities: ClientCapabilities): ClientCapabilities {
  const { extensions, ...others } = capabilities;
  if (extensions?.[TASKS_EXTENSION] === undefined) return capabilities;
  const { [TASKS_EXTENSION]: _tasks, ...rest } = extensions;
  if (Object.keys(rest).length > 0) return { ...others, extensions: rest };
  return Object.keys(others).length === 0 ? NO_CAPABILITIES : others;
}

const ASKED = new Set(["elicitation", "sampling", "roots"]);

/** Whether there is anything a server could ask. */
export function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

export function knowsTasks({ extensions }: ClientCapabilities): boolean {
  return extensions?.[TASKS_EXTENSION] !== undefined;
}
