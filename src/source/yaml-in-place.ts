import { isCollection, isMap, isScalar, isSeq, stringify, type YAMLMap, type YAMLSeq } from "yaml";
import { parseBoundedYaml } from "./bounded-yaml.ts";
import type { SourceChange } from "./source-change.ts";
import { addToFlow, inFlow, rangeOf, removeFromFlow } from "./yaml-flow.ts";
import { keyOf } from "./yaml-source.ts";

/** Changes values in place, and members inside { } and [ ]; throws if that is not possible. */
export function changeYamlInPlace(text: string, changes: readonly SourceChange[]): string {
  return changes.reduce(inPlace, text);
}

/** Replaces a single value, or a member of a map or list in brackets. */
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

/** Uses the quotes of the old value. */
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
