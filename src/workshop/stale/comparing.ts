import type { Evidence } from "../documents/api-facts.ts";
import { isSameMeaning } from "./same-meaning.ts";

/** One step from a whole document to a part of it. */
export interface TrailStep {
  kind: "document" | "server" | "security" | "operation" | "parameter" | "message" | "schema";
  /** Where it is said in the older document. */
  evidence: readonly Evidence[];
  /** The name of a parameter, a property or a security scheme. */
  name?: string;
}

/** Something that two versions of a document say differently. */
export interface FactChange {
  /** The innermost step is the last one. */
  trail: readonly TrailStep[];
  /** The place that differs: in the older document, or in the newer one if it is new. */
  at: Evidence;
  /** What differs there, such as `required` or `enum`; undefined if the whole place is new or gone. */
  member?: string;
  change: "changed" | "gone" | "new";
  before?: unknown;
  after?: unknown;
}

/** Where something is said, and where its changes go. */
export interface Comparing {
  trail: readonly TrailStep[];
  say: (change: FactChange) => void;
}

/** Something that only one of the documents has. */
export function saySide<T extends { evidence: Evidence }>(
  before: T | undefined,
  after: T | undefined,
  { trail, say }: Comparing,
  words: (side: T) => unknown,
): void {
  if (before) say({ trail, at: before.evidence, change: "gone", before: words(before) });
  else if (after) say({ trail, at: after.evidence, change: "new", after: words(after) });
}

export function compareMembers(
  before: object,
  after: object,
  members: readonly string[],
  here: Comparing & { at: Evidence },
): void {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  for (const member of members) compareMember(member, old.get(member), now.get(member), here);
}

export function compareMember(
  member: string,
  before: unknown,
  after: unknown,
  here: Comparing & { at: Evidence },
): void {
  if (isSameMeaning(before, after)) return;
  const sides = { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  here.say({ ...placeOf(here), member, change: "changed", ...sides });
}

function placeOf({ trail, at }: Comparing & { at: Evidence }): Pick<FactChange, "trail" | "at"> {
  return { trail, at };
}

export function inside({ trail, say }: Comparing, step: TrailStep): Comparing {
  return { trail: [...trail, step], say };
}

/** Each name of either side, with what the sides have under it. */
export function compareNamed<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  compare: (name: string, old: T | undefined, now: T | undefined) => void,
): void {
  for (const name of new Set([...before.keys(), ...after.keys()])) compare(name, before.get(name), after.get(name));
}

/** What has the same name is numbered, so that nothing is left out. */
export function byName<T>(all: readonly T[], nameOf: (each: T) => string): Map<string, T> {
  const found = new Map<string, T>();
  for (const each of all) {
    const name = nameOf(each);
    let unique = name;
    for (let more = 2; found.has(unique); more++) unique = `${name} (${more})`;
    found.set(unique, each);
  }
  return found;
}

/** Conditions in words, in any order. */
export function rulesOf(rules: readonly { that: string; say: string }[] = []): string[] {
  return rules.map(({ that, say }) => `${that}: ${say}`).toSorted();
}
