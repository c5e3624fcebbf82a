import { isRecord } from "../../json/is-record.ts";
import { toolDefinition } from "../compile/tool-definition.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import type { Leaf, PathStep } from "./leaves.ts";

/**
 * Decides whether a change alone is visible to callers in the tools' schemas, which then show it. Hidden, constant and
 * computed fields and wire paths are not visible there, nor are changes that are invalid alone.
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

/** A copy with one value replaced, or removed if it is undefined. */
function replaced(tree: unknown, [name, ...rest]: readonly PathStep[], value: unknown): unknown {
  if (name === undefined) return value;
  if (typeof name === "number") throw new TypeError("a single entry of a list is not replaced");
  const members = new Map(Object.entries(isRecord(tree) ? tree : {}));
  members.set(name, replaced(members.get(name), rest, value));
  return Object.fromEntries([...members].filter(([, member]) => member !== undefined));
}
