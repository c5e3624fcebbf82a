import type { SetDefinition, SetItem } from "../../gateway/sets/set-definition.ts";

type Contents = Omit<SetDefinition, "description">;

/** The servers that a definition names, each once; not those that a pattern with * stands for. */
export function namedServers({ allow, deny = [], tools = {}, prompts = {} }: Contents): string[] {
  const named = [...allow, ...deny, ...Object.keys(tools), ...Object.keys(prompts)];
  const servers = named.map((text) => text.split(/[./]/, 1)[0] ?? "");
  return [...new Set(servers)].filter((server) => !server.includes("*"));
}

/** The patterns and flags in one line. */
export function contentText({ allow, deny = [], readOnly, pin }: Contents): string {
  const flags = [...(readOnly ? ["read-only"] : []), ...(pin ? ["pinned"] : [])];
  return [...allow, ...deny.map((pattern) => `not ${pattern}`), ...flags].join(", ");
}

/** What the set says about a tool or prompt, in one line. */
export function itemText({ name, description, arguments: fixed = {} }: SetItem): string {
  const values = Object.entries(fixed).map(([argument, value]) => `${argument}=${JSON.stringify(value)}`);
  const parts = [
    ...(name === undefined ? [] : [`is called ${name}`]),
    ...(values.length === 0 ? [] : [`always with ${values.join(", ")}`]),
    ...(description === undefined ? [] : [`described as ${JSON.stringify(description)}`]),
  ];
  return parts.length === 0 ? "as it is" : parts.join("; ");
}
