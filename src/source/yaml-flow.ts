import { isMap, isScalar, stringify, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";

/** Changes inside `{ }` and `[ ]`, on one line or several, with comments after their members. */

/** Adds a member, or an item if `key` is undefined, after the last one. */
export function addToFlow(text: string, flow: YAMLMap | YAMLSeq, key: string | undefined, value: unknown): string {
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

export function removeFromFlow(text: string, flow: YAMLMap | YAMLSeq, index: number): string {
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
export function inFlow(value: unknown): string {
  const [, written = ""] = /^\[ ([^]*) \]\n$/.exec(stringify([value], { collectionStyle: "flow", lineWidth: 0 })) ?? [];
  return written;
}

export function rangeOf(node: unknown): readonly [number, number] {
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
