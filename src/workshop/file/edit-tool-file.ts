import { isDeepStrictEqual } from "node:util";
import { isCollection, isMap, isScalar, isSeq, stringify, type YAMLMap, type YAMLSeq } from "yaml";
import { changed, type SourceChange } from "../../source/source-change.ts";
import { editYaml } from "../../source/yaml-edit.ts";
import { keyOf } from "../../source/yaml-source.ts";
import { spliceYaml } from "../../source/yaml-splice.ts";
import { parseBoundedYaml } from "../../source/bounded-yaml.ts";
import { addToFlow, inFlow, rangeOf, removeFromFlow } from "./edit-flow.ts";

/** What is to stand at a path; `remove` takes it away. What is above it is made where it is missing. */
export type ToolFileChange =
  | { path: readonly (string | number)[]; value: unknown }
  | { path: readonly (string | number)[]; remove: true };

/**
 * Changes a tool file and touches nothing else: comments, order and layout stay. Where a change does not fit into the
 * lines as they are, the file is laid out anew, with its comments.
 */
export function editToolFile(text: string, changes: readonly ToolFileChange[]): string {
  return changes.reduce((edited, change) => {
    const plain = { path: change.path, value: "remove" in change ? undefined : change.value };
    const wanted = changed(valueOf(edited), plain);
    for (const attempt of [inPlace, (before: string) => spliceYaml(before, [plain])]) {
      const after = attempted(() => attempt(edited, plain));
      if (after !== undefined && isDeepStrictEqual(valueOf(after), wanted)) return after;
    }
    return editYaml(edited, [plain]);
  }, text);
}

/** A single value in the place of another, or a member of a map or list that is written with brackets. */
function inPlace(text: string, { path, value }: SourceChange): string {
  const [last, ...above] = path.toReversed();
  let node: unknown = parseBoundedYaml(text).contents;
  for (const key of above.toReversed()) node = memberOf(node, key);
  if (last === undefined || !(isMap(node) || isSeq(node))) throw new TypeError("nothing to change");
  const index = indexOf(node, last);
  if (index !== -1 && value !== undefined) return replaced(text, memberOf(node, last), value, node.flow === true);
  if (!node.flow) throw new TypeError("not in brackets");
  if (value === undefined) return index === -1 ? text : removeFromFlow(text, node, index);
  return addToFlow(text, node, isMap(node) ? String(last) : undefined, value);
}

function replaced(text: string, before: unknown, value: unknown, flow: boolean): string {
  const isBlock = isScalar(before) && /BLOCK/.test(before.type ?? "");
  const fits = (isScalar(before) && before.source !== "" && !isBlock) || (isCollection(before) && before.flow);
  if (!fits) throw new TypeError("not on one line");
  const [start, end] = rangeOf(before);
  const isText = isScalar(before) && typeof value === "string";
  return text.slice(0, start) + (isText ? likeBefore(value, before.type, flow) : inFlow(value)) + text.slice(end);
}

/** In the quotes that stood there. */
function likeBefore(value: string, type: string | undefined, flow: boolean): string {
  if (type === "QUOTE_DOUBLE") return JSON.stringify(value);
  if (type === "QUOTE_SINGLE" && /^[\x20-\x7e]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return flow ? inFlow(value) : stringify(value, { lineWidth: 0 }).trimEnd();
}

function memberOf(node: unknown, key: string | number): unknown {
  if (isMap(node)) return node.items.find((pair) => keyOf(pair) === String(key))?.value;
  return isSeq(node) ? node.items[Number(key)] : undefined;
}

function indexOf(node: YAMLMap | YAMLSeq, key: string | number): number {
  if (isMap(node)) return node.items.findIndex((pair) => keyOf(pair) === String(key));
  return Number(key) < node.items.length ? Number(key) : -1;
}

function valueOf(text: string): unknown {
  const document = parseBoundedYaml(text);
  if (document.errors.length > 0) return document.errors;
  return document.toJS({ maxAliasCount: 100 });
}

function attempted(attempt: () => string): string | undefined {
  try {
    return attempt();
  } catch (error) {
    // What cannot be done in place is done the other way.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
