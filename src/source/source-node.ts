/** A place in a file; both count from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A member of an object in a file. The same key may occur twice; the reader decides what that means. */
export interface Member {
  key: string;
  /** The place of the key. */
  place: Place;
  node: SourceNode;
}

/** A value from a file of any format, with the places of its parts. */
export type SourceNode =
  | { kind: "object"; place: Place; members: readonly Member[] }
  | { kind: "list"; place: Place; items: readonly SourceNode[] }
  /** `source`: the written form, if the format keeps it. */
  | { kind: "scalar"; place: Place; value: unknown; source?: string | undefined };

/** The value without its places. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plainValue);
  // fromEntries defines members, so a key named __proto__ stays a key.
  return Object.fromEntries(node.members.map(({ key, node: value }) => [key, plainValue(value)]));
}

/** Configuration is flat; deeper files are meant to break code that recurses. */
export const MAX_SOURCE_DEPTH = 100;
/** Maximum number of values in one file. Each costs time before the file is trusted. */
export const MAX_SOURCE_VALUES = 200_000;

export function isTooDeep(node: SourceNode, left = MAX_SOURCE_DEPTH): boolean {
  if (left === 0) return true;
  if (node.kind === "list") return node.items.some((item) => isTooDeep(item, left - 1));
  return node.kind === "object" && node.members.some((member) => isTooDeep(member.node, left - 1));
}

/** The member of that name; the last one if there are several. */
export function findMember(node: SourceNode | undefined, key: string): Member | undefined {
  if (node?.kind !== "object") return undefined;
  const { members } = node;
  return isWide(members) ? keysOf(members).last.get(key) : members.findLast((member) => member.key === key);
}

/** The value of a key or the item with that index, with the place of its key. */
export function memberAt(node: SourceNode, step: string | number): { node: SourceNode; place: Place } | undefined {
  if (node.kind === "object") {
    const { members } = node;
    return isWide(members) ? keysOf(members).first.get(step) : members.find(({ key }) => key === step);
  }
  const item = node.kind === "list" && typeof step === "number" ? node.items[step] : undefined;
  return item && { node: item, place: item.place };
}

/** Searching a longer list of members again and again would take quadratic time. */
const FEW_MEMBERS = 16;

function isWide(members: readonly Member[]): boolean {
  return members.length > FEW_MEMBERS;
}

interface MemberKeys {
  first: ReadonlyMap<string | number, Member>;
  last: ReadonlyMap<string, Member>;
}

/** By the members, which never change once they are in a node. */
const KEYS = new WeakMap<readonly Member[], MemberKeys>();

function keysOf(members: readonly Member[]): MemberKeys {
  let keys = KEYS.get(members);
  if (!keys) {
    const last = new Map(members.map((member) => [member.key, member]));
    const first = last.size === members.length ? last : new Map(members.toReversed().map((each) => [each.key, each]));
    keys = { first, last };
    KEYS.set(members, keys);
  }
  return keys;
}

const NOWHERE: Place = { line: 1, column: 1 };

/** Finds the place where a part of a value was written. */
export interface PlaceFinder {
  readonly place: Place;
  inner(key: string): PlaceFinder;
}

/** A value from a program; `finder` knows where it was written, if it was. */
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

/** For a value that was written in one place. */
export function allAt(place: Place): PlaceFinder {
  const finder: PlaceFinder = { place, inner: () => finder };
  return finder;
}

/** URL objects and dates are values, not objects with members. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
