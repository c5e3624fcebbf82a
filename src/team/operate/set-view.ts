import type { SetDefinition, SetItem } from "../../gateway/sets/set-definition.ts";
import type { KeptSet } from "../../store/keep/sets.ts";
import { isoTime } from "../../text/duration.ts";

/** What programs are told about a set. */
export interface SetView {
  name: string;
  tenant: string;
  /** Its address on a gateway. */
  path: string;
  description: string | null;
  allow: readonly string[];
  deny: readonly string[];
  readOnly: boolean;
  pin: boolean;
  tools: Readonly<Record<string, SetItem>>;
  prompts: Readonly<Record<string, SetItem>>;
  changed: string;
}

export function setPath(name: string): string {
  return `/sets/${name}/mcp`;
}

export function setView({ tenant, name, definition, changedAt }: KeptSet): SetView {
  const {
    description = null,
    allow,
    deny = [],
    readOnly = false,
    pin = false,
    tools = {},
    prompts = {},
  } = setDefinition(definition);
  const changed = isoTime(changedAt);
  return { name, tenant, path: setPath(name), description, allow, deny, readOnly, pin, tools, prompts, changed };
}

/** It was checked when it was stored. */
export function setDefinition(text: string): SetDefinition {
  return JSON.parse(text) as SetDefinition;
}
