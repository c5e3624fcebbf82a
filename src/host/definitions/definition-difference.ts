import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../json/is-record.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { escapePart } from "../../schema/pointer.ts";

/** One place where a definition differs from the accepted one. */
export interface DefinitionDifference {
  /** For people: `description`, `argument to`, `argument query: type`, `annotations.readOnlyHint`. */
  place: string;
  what: "changed" | "added" | "removed";
  before?: unknown;
  after?: unknown;
  /** JSON pointer. */
  pointer: string;
}

type Path = readonly string[];

/** What is different, in the order in which people read a tool: texts, arguments, annotations, everything else. */
export function definitionDifferences(kind: ListKind, before: unknown, after: unknown): DefinitionDifference[] {
  const found = differences(before, after, []);
  const places = found.flatMap((difference) => asRequired(difference) ?? [labelled(kind, difference)]);
  return places.toSorted((a, b) => rank(a.place) - rank(b.place));
}

interface Found {
  path: Path;
  what: DefinitionDifference["what"];
  before?: unknown;
  after?: unknown;
}

function differences(before: unknown, after: unknown, path: Path): Found[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (before === undefined) return [{ path, what: "added", after }];
  if (after === undefined) return [{ path, what: "removed", before }];
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differences(own(before, key), own(after, key), [...path, key]));
  }
  const [one, other] = [byName(before), byName(after)];
  if (one && other) {
    const named = differences(one, other, path);
    // Otherwise only their order is different.
    return named.length > 0 ? named : [{ path, what: "changed", before, after }];
  }
  if (isListOfRecords(before) && isListOfRecords(after) && before.length === after.length) {
    return before.flatMap((item, index) => differences(item, after[index], [...path, String(index)]));
  }
  return [{ path, what: "changed", before, after }];
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The arguments of a prompt are a list of things with names. */
function byName(value: unknown): Record<string, unknown> | undefined {
  if (!isListOfRecords(value) || value.length === 0) return undefined;
  const named = value.map((item): [string, unknown] => [String(item["name"]), item]);
  const isNamed = value.every(({ name }) => typeof name === "string");
  return isNamed && new Set(named.map(([name]) => name)).size === named.length ? Object.fromEntries(named) : undefined;
}

function isListOfRecords(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isRecord);
}

/** `required` of a tool's schema is a list of names: each is a fact about an argument. */
function asRequired({ path, before = [], after = [] }: Found): DefinitionDifference[] | undefined {
  if (path[0] !== "inputSchema" || path[1] !== "required" || path.length !== 2) return undefined;
  if (!isListOfNames(before) || !isListOfNames(after)) return undefined;
  const pointer = pointerOf(path);
  const fact = (name: string, isNow: boolean): DefinitionDifference => ({
    place: `argument ${name}: required`,
    what: "changed",
    before: !isNow,
    after: isNow,
    pointer,
  });
  const all = [
    ...after.filter((name) => !before.includes(name)).map((name) => fact(name, true)),
    ...before.filter((name) => !after.includes(name)).map((name) => fact(name, false)),
  ];
  // Only the order is different.
  return all.length > 0 ? all : undefined;
}

function isListOfNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function labelled(kind: ListKind, { path, ...difference }: Found): DefinitionDifference {
  return { place: placeOf(kind, path), ...difference, pointer: pointerOf(path) };
}

function placeOf(kind: ListKind, path: Path): string {
  const [first, second, third] = path;
  if (kind === "tools" && first === "inputSchema" && second === "properties" && third !== undefined) {
    return argument(third, path.slice(3));
  }
  if (kind === "prompts" && first === "arguments" && second !== undefined) return argument(second, path.slice(2));
  return path.length === 0 ? "the whole definition" : memberPath(path);
}

function argument(name: string, rest: Path): string {
  return rest.length === 0 ? `argument ${name}` : `argument ${name}: ${memberPath(rest)}`;
}

function memberPath(path: Path): string {
  const [first = "", ...rest] = path.map((key) => (/^[A-Za-z_$][\w$-]*$/.test(key) ? key : `[${JSON.stringify(key)}]`));
  return [first, ...rest.map((key) => (key.startsWith("[") ? key : `.${key}`))].join("");
}

function pointerOf(path: Path): string {
  return path.map((key) => `/${escapePart(key)}`).join("");
}

const ORDER = [/^title$/, /^description$/, /^argument /, /^inputSchema/, /^outputSchema/, /^annotations/];

function rank(place: string): number {
  const found = ORDER.findIndex((pattern) => pattern.test(place));
  return found === -1 ? ORDER.length : found;
}
