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
  /** `source`: how it is written, where the format keeps that. */
  | { kind: "scalar"; place: Place; value: unknown; source?: string | undefined };

/** The value without its places. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  // fromEntries defines members: a key named __proto__ stays a key.
  return Object.fromEntries(node.members.map(({ key, node: value }) => [key, plainValue(value)]));
}

/** Configuration is flat; what is deeper than this is meant to break whoever walks through it. */
export const MAX_SOURCE_DEPTH = 100;
/** Of one file. Each costs time before anybody trusts the file. */
export const MAX_SOURCE_VALUES = 200_000;

export function isTooDeep(node: SourceNode, left = MAX_SOURCE_DEPTH): boolean {
  if (left === 0) return true;
  if (node.kind === "list") return node.items.some((item) => isTooDeep(item, left - 1));
  return node.kind === "object" && node.members.some((member) => isTooDeep(member.node, left - 1));
}

/** The member of that name; the last, where there are several. */
export function findMember(node: SourceNode | undefined, key: string): Member | undefined {
  return node?.kind === "object" ? node.members.findLast((member) => member.key === key) : undefined;
}

/** What is behind a key, or the item of that number, with the place of its key. */
export function memberAt(node: SourceNode, step: string | number): { node: SourceNode; place: Place } | undefined {
  if (node.kind === "object") return node.members.find(({ key }) => key === step);
  const item = node.kind === "list" && typeof step === "number" ? node.items[step] : undefined;
  return item && { node: item, place: item.place };
}

const NOWHERE: Place = { line: 1, column: 1 };

/** Finds where the part of a value that has this key was written. */
export interface PlaceFinder {
  readonly place: Place;
  inner(key: string): PlaceFinder;
}

/** A value that a program gave; `finder` knows where it was written, if it was. */
export function nodeOf(value: unknown, finder: PlaceFinder = allAt(NOWHERE), depth = 0): SourceNode {
  const { place } = finder;
  if (depth > MAX_SOURCE_DEPTH) throw new RangeError("nested too deeply");
  if (Array.isArray(value)) {
    const items = value.map((item, index) => nodeOf(item, finder.inner(String(index)), depth + 1));
    return { kind: "list", place, items };
  }
  if (typeof value !== "object" || value === null || !isPlain(value)) return { kind: "scalar", place, value };
  const members = Object.entries(value).map(([key, item]): Member => {
    const inner = finder.inner(key);
    return { key, place: inner.place, node: nodeOf(item, inner, depth + 1) };
  });
  return { kind: "object", place, members };
}

/** All of a value was written in one place. */
export function allAt(place: Place): PlaceFinder {
  const finder: PlaceFinder = { place, inner: () => finder };
  return finder;
}

/** URL objects and dates are values, not objects with members. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
