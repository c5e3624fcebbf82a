import { isRecord } from "../../json/is-record.ts";
import type { ClientCapabilities, Implementation } from "../../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";
import type { Offer } from "../core/core.ts";
import { CHANGING_LISTS, type ChangingList } from "../../protocol/list-kinds.ts";

/**
 * What a client declared and its revision has: a client declares all it can, and what the revision agreed upon does not
 * have must not be asked of it. Tasks are left out, since they are polled here; so is `listChanged` of roots.
 */
export function usableCapabilities(version: LegacyRevision, declared: unknown): ClientCapabilities {
  if (!isRecord(declared)) return {};
  const { elicitation, sampling, roots, extensions, tasks: _, ...others } = declared;
  const usable: ClientCapabilities = others;
  const isNewest = atLeast(version, "2025-11-25");
  if (isRecord(elicitation) && atLeast(version, "2025-06-18")) usable.elicitation = isNewest ? elicitation : {};
  if (isRecord(sampling)) usable.sampling = isNewest ? sampling : {};
  if (isRecord(roots)) usable.roots = {};
  const { [TASKS_EXTENSION]: _tasks, ...carried } = isRecord(extensions) ? extensions : {};
  if (Object.keys(carried).length > 0) usable.extensions = carried;
  return usable;
}

/** Whether a client that declared this can be asked anything. */
export function isAskable({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

/** Modern capabilities of an endpoint, as `initialize` tells of them. */
export function legacyOffer(
  { capabilities: offered, legacyTasks }: Pick<Offer, "capabilities" | "legacyTasks">,
  version: LegacyRevision,
  caller: ClientCapabilities,
): Record<string, unknown> {
  const { extensions, completions, tasks: _, ...others } = offered;
  // The level is kept here, whatever the servers do with it.
  const capabilities: Record<string, unknown> = { ...others, logging: {} };
  // Before, the method was there without a capability.
  if (completions !== undefined && atLeast(version, "2025-03-26")) capabilities["completions"] = completions;
  const common = Object.entries(isRecord(extensions) ? extensions : {}).filter(([name]) => {
    return name !== TASKS_EXTENSION && caller.extensions?.[name] !== undefined;
  });
  if (common.length > 0) capabilities["extensions"] = Object.fromEntries(common);
  if (legacyTasks && hasTasks(version)) capabilities["tasks"] = legacyTasks;
  return capabilities;
}

/** Whether tasks are part of the revision; the newest has them as an extension. */
export function hasTasks(version: LegacyRevision): boolean {
  return version === "2025-11-25";
}

/** A name and version with what the revision knows of an implementation. */
export function legacyInfo(info: Implementation, version: LegacyRevision): Implementation {
  if (atLeast(version, "2025-11-25")) return info;
  const { icons: _icons, websiteUrl: _site, description: _description, ...titled } = info;
  if (atLeast(version, "2025-06-18")) return titled;
  const { title: _, ...named } = titled;
  return named;
}

/** The lists whose changes an endpoint tells of. */
export function changingLists(offered: Record<string, unknown>): ChangingList[] {
  return CHANGING_LISTS.filter((list) => {
    const capability = offered[list];
    return isRecord(capability) && capability["listChanged"] === true;
  });
}
