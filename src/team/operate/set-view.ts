import type { SetDefinition } from "../../gateway/sets/set-definition.ts";
import type { KeptSet } from "../../store/keep/sets.ts";
import { isoTime } from "../../text/duration.ts";

/** What programs are told about a set: its definition with all members. */
export type SetView = Readonly<
  { name: string; tenant: string; path: string; changed: string; description: string | null } & Required<
    Omit<SetDefinition, "description">
  >
>;

const NOTHING = { allow: [], deny: [], readOnly: false, pin: false, tools: {}, prompts: {} };

export function setPath(name: string): string {
  return `/sets/${name}/mcp`;
}

export function setView({ tenant, name, definition, changedAt }: KeptSet): SetView {
  const { description = null, ...said } = setDefinition(definition);
  return { name, tenant, path: setPath(name), description, ...NOTHING, ...said, changed: isoTime(changedAt) };
}

/** It was checked when it was stored. */
export function setDefinition(text: string): SetDefinition {
  return JSON.parse(text) as SetDefinition;
}
