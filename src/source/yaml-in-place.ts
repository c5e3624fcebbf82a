import {
  isCollection,
  isMap,
  isScalar,
  isSeq,
  stringify,
  type YAMLMap,
  type YAMLSeq,
  type Node,
  type Pair,
} from "yaml";
import { parseBoundedYaml } from "./bounded-yaml.ts";
import type { SourceChange } from "./source-change.ts";
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

/** Changes inside `{ }` and `[ ]`, on one line or several, with comments after their members. */

/** Adds a member, or an item if `key` is undefined, after the last one. */
function addToFlow(text: string, flow: YAMLMap | YAMLSeq, key: string | undefined, value: unknown): string {
  const written = (key === undefined ? "" : `${inFlow(key)}: `) + inFlow(value);
  const last = flow.items.at(-1);
  const [start, end] = rangeOf(flow);
  if (last === undefined) return `${text.slice(0, start + 1)} ${written} ${text.slice(end - 1)}`;
  const at = endOf(last);
  const indent = /(?<=\n)[ \t]*$/.exec(text.slice(0, rangeOf(startOf(last))[0]))?.[0];
  const [rest = "", comma = ""] = /^[^\S\n]*(,?)[^\S\n]*(?:#[^\n]*)?(?=\n)/.exec(text.slice(at)) ?? [];
  if (indent === undefined || rest === "") return `${text.slice(0, at)}, ${written}${text.slice(at)}`;
  // A comment in the line stays after its member.
  const line = comma === "" ? `,${rest}` : rest;
  return `${text.slice(0, at)}${line}\n${indent}${written}${comma}${text.slice(at + rest.length)}`;
}

function removeFromFlow(text: string, flow: YAMLMap | YAMLSeq, index: number): string {
  const item = flow.items[index];
  const [start] = rangeOf(startOf(item));
  const before = text.slice(0, start);
  const after = text.slice(endOf(item));
  const alone = /^\s*,?[^\S\n]*(?:#[^\n]*)?\n/.exec(after)?.[0];
  if (/\n[ \t]*$/.test(before) && alone !== undefined) return before.replace(/[ \t]*$/, "") + after.slice(alone.length);
  const next = /^\s*,\s*/.exec(after)?.[0];
  return next === undefined ? before.replace(/\s*,?\s*$/, " ") + after.trimStart() : before + after.slice(next.length);
}

/** A value on one line, quoted if it contains brackets or commas. */
function inFlow(value: unknown): string {
  const [, written = ""] = /^\[ ([^]*) \]\n$/.exec(stringify([value], { collectionStyle: "flow", lineWidth: 0 })) ?? [];
  return written;
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = (node as Partial<Node> | null | undefined)?.range;
  if (!range) throw new TypeError("it has no place");
  return [range[0], range[1]];
}

function startOf(item: unknown): unknown {
  return isPair(item) ? item.key : item;
}

function endOf(item: unknown): number {
  return rangeOf(isPair(item) && item.value !== null ? item.value : startOf(item))[1];
}

function isPair(item: unknown): item is Pair {
  return typeof item === "object" && item !== null && !isScalar(item) && !isMap(item) && "key" in item;
}
