import { isRecord } from "../../json/is-record.ts";
import { fullInputSchema, fullOutputSchema, type JsonSchema } from "../compile/json-schema.ts";
import { toolDefinition } from "../compile/tool-definition.ts";
import { toolsByType } from "../compile/type-reach.ts";
import type { ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import type { Leaf, PathStep } from "./leaves.ts";

/**
 * Decides whether a change alone is visible to callers in the tools' schemas, which then show it. Hidden, constant and
 * computed fields and wire paths are not visible there, nor are changes that are invalid alone.
 */
export function seenAlone(file: ToolFile): (leaf: Leaf) => boolean {
  let users: Map<string, Set<string>> | undefined;
  return ({ path, after }) => {
    users ??= toolsByType(file);
    const [section, type] = path;
    // A change inside of a type is seen only by the tools that have it.
    const tools = section === "types" ? (users.get(String(type)) ?? []) : Object.keys(file.tools);
    try {
      const changed = replaced(file, path, after) as ToolFile;
      return [...tools].some((tool) => schemaTextOf(file, tool) !== schemaTextOf(changed, tool));
    } catch {
      return false;
    }
  };
}

function schemaTextOf(file: ToolFile, name: string): string {
  const spec = file.tools[name];
  return spec ? JSON.stringify(schemasOf(file, name, spec)) : "";
}

/** The arguments and the result of a tool, as its definition shows them; complete if it is described on request. */
export function schemasOf(file: ToolFile, name: string, spec: ToolSpec): [input: JsonSchema, output: JsonSchema] {
  if (spec.offer !== undefined) return [fullInputSchema(file, spec), fullOutputSchema(file, spec)];
  const { inputSchema, outputSchema } = toolDefinition(file, name, spec);
  return [inputSchema, outputSchema ?? {}];
}

/** A copy with one value replaced, or removed if it is undefined. */
function replaced(tree: unknown, [name, ...rest]: readonly PathStep[], value: unknown): unknown {
  if (name === undefined) return value;
  if (typeof name === "number") throw new TypeError("a single entry of a list is not replaced");
  const members = new Map(Object.entries(isRecord(tree) ? tree : {}));
  members.set(name, replaced(members.get(name), rest, value));
  return Object.fromEntries([...members].filter(([, member]) => member !== undefined));
}
