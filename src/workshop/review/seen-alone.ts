import { isRecord } from "../../json/is-record.ts";
import { fullInputSchema, fullOutputSchema, type JsonSchema } from "../compile/json-schema.ts";
import { toolDefinition } from "../compile/tool-definition.ts";
import type { ToolFile, ToolSpec, TypeSpec } from "../file/model/tool-file.ts";
import type { Leaf, PathStep } from "./leaves.ts";

/**
 * Decides whether a change inside of a type is visible to callers in its schemas, which then show it. Hidden, constant
 * and computed fields and wire paths are not visible there, nor are changes that are invalid alone. Only the schema of
 * the type itself is written: a file may have thousands of changes.
 */
export function seenAlone(file: ToolFile): (leaf: Leaf) => boolean {
  const [spec] = Object.values(file.tools);
  const bare = Object.fromEntries(Object.entries(file.types).map(([name, type]) => [name, emptied(type)]));
  const texts = new Map<string, string>();
  const textOf = (name: string, type: TypeSpec) => {
    if (!spec) return "";
    const alone: ToolFile = { ...file, types: { ...bare, [name]: type } };
    const user = userOf(spec, name);
    return JSON.stringify([fullInputSchema(alone, user), fullOutputSchema(alone, user)]);
  };
  return ({ path: [section, name, ...rest], after }) => {
    if (section !== "types" || typeof name !== "string" || !Object.hasOwn(file.types, name)) return false;
    const type = file.types[name];
    if (!type) return false;
    try {
      const before = texts.get(name) ?? textOf(name, type);
      texts.set(name, before);
      return before !== textOf(name, replaced(type, rest, after) as TypeSpec);
    } catch {
      return false;
    }
  };
}

/** A tool that takes and returns the type. */
function userOf(spec: ToolSpec, type: string): ToolSpec {
  return spec.request
    ? { ...spec, input: type, response: { ...spec.response, type } }
    : { ...spec, input: type, response: { ...spec.response, type } };
}

/** A type that is only a name, for the schemas of others. */
function emptied({ xml }: TypeSpec): TypeSpec {
  return { xml, fields: {}, rules: [] };
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
