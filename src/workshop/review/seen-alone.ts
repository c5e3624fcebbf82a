import { isRecord } from "../../json/is-record.ts";
import { toolDefinition } from "../compile/tool-definition.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import type { Leaf, PathStep } from "./leaves.ts";

/**
 * Tells whether a change, by itself, changes what callers see of the tools: then their schemas tell it. What is hidden,
 * constant, computed or only on the wire does not show there, nor does what cannot stand alone.
 */
export function seenAlone(file: ToolFile): (leaf: Leaf) => boolean {
  let before: string | undefined;
  return ({ path, after }) => {
    try {
      before ??= schemasOf(file);
      return schemasOf(replaced(file, path, after) as ToolFile) !== before;
    } catch {
      return false;
    }
  };
}

function schemasOf(file: ToolFile): string {
  const tools = Object.entries(file.tools).map(([name, spec]) => toolDefinition(file, name, spec));
  return JSON.stringify(tools.map(({ inputSchema, outputSchema }) => [inputSchema, outputSchema]));
}

/** A copy with something else in one place; without the member where there is nothing. */
function replaced(tree: unknown, [name, ...rest]: readonly PathStep[], value: unknown): unknown {
  if (name === undefined) return value;
  if (typeof name === "number") throw new TypeError("a single entry of a list is not replaced");
  const members = new Map(Object.entries(isRecord(tree) ? tree : {}));
  members.set(name, replaced(members.get(name), rest, value));
  return Object.fromEntries([...members].filter(([, member]) => member !== undefined));
}
