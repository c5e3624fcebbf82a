/** Where something stands in a file; both count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A member of an object in a file. The same key may come twice: whoever reads decides what that means. */
export interface Member {
  key: string;
  /** Of the key. */
  place: Place;
  node: SourceNode;
}

/** A value read from a file of any format, with the place of each of its parts. */
export type SourceNode =
  | { kind: "object"; place: Place; members: readonly Member[] }
  | { kind: "list"; place: Place; items: readonly SourceNode[] }
  | { kind: "scalar"; place: Place; value: unknown };

/** The value without its places. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  // fromEntries defines members: a key named __proto__ stays a key.
  return Object.fromEntries(node.members.map(({ key, node: value }) => [key, plainValue(value)]));
}

/** Configuration is flat; what is deeper than this is meant to break whoever walks through it. */
const MAX_DEPTH = 100;

export function isTooDeep(node: SourceNode, left = MAX_DEPTH): boolean {
  if (left === 0) return true;
  if (node.kind === "list") return node.items.some((item) => isTooDeep(item, left - 1));
  return node.kind === "object" && node.members.some((member) => isTooDeep(member.node, left - 1));
}

/** The member of that name; the last, where there are several. */
export function findMember(node: SourceNode | undefined, key: string): Member | undefined {
  return node?.kind === "object" ? node.members.findLast((member) => member.key === key) : undefined;
}

/** A value that a program gave; `placeOf` knows where it was written, if it was. */
export function nodeOf(value: unknown, placeOf: (path: readonly string[]) => Place = () => NOWHERE): SourceNode {
  return nodeAt(value, [], placeOf);
}

const NOWHERE: Place = { line: 1, column: 1 };

function nodeAt(value: unknown, path: readonly string[], placeOf: (path: readonly string[]) => Place): SourceNode {
  const place = placeOf(path);
  if (Array.isArray(value)) {
    return { kind: "list", place, items: value.map((item, index) => nodeAt(item, [...path, String(index)], placeOf)) };
  }
  if (typeof value !== "object" || value === null || !isPlain(value)) return { kind: "scalar", place, value };
  const members = Object.entries(value).map(([key, item]): Member => {
    const inner = [...path, key];
    return { key, place: placeOf(inner), node: nodeAt(item, inner, placeOf) };
  });
  return { kind: "object", place, members };
}

/** URL objects and dates are values, not objects with members. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
