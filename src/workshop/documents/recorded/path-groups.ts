import { percentDecoded } from "../../../text/percent-decoded.ts";
import { isRecord } from "../../../json/is-record.ts";
import { isSecretSegment } from "../text/secret-like.ts";
import type { HarEntry } from "./har-entries.ts";

/** Requests with the same method and the same path, but for the parts that differ. */
export interface PathGroup {
  method: string;
  /** `{name}` for parts that differ. */
  path: string;
  entries: HarEntry[];
}

/** So many values in one place of a path are ids. */
const LEAST_VALUES = 3;
const ID =
  /^(?:\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}|(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}|\d{4}-\d\d-\d\d|[^@\s]+@[^@\s]+\.[a-z]+)$/i;

/** Groups requests. A part of a path is a parameter if it looks like an id, or if otherwise equal requests differ in it. */
export function pathGroups(entries: readonly HarEntry[]): PathGroup[] {
  const groups = new Map<string, { method: string; steps: string[]; entries: HarEntry[] }>();
  for (const entry of entries) {
    const steps = entry.url.pathname.split("/").slice(1, 40).map(stepOf);
    const key = `${entry.method} ${steps.join("/")}`;
    const group = groups.get(key) ?? { method: entry.method, steps, entries: [] };
    groups.set(key, group);
    group.entries.push(entry);
  }
  for (const together of similar([...groups])) {
    const [first, ...others] = together.keys.map((key) => groups.get(key));
    if (!first) continue;
    first.steps = first.steps.map((step, index) => (index === together.at ? "{}" : step));
    for (const other of others) first.entries.push(...(other?.entries ?? []));
    for (const key of together.keys.slice(1)) groups.delete(key);
  }
  return [...groups.values()].map(({ steps, ...group }) => ({ ...group, path: `/${named(steps).join("/")}` }));
}

function stepOf(step: string): string {
  const text = percentDecoded(step);
  return ID.test(text) || isSecretSegment(text) ? "{}" : step;
}

/** Groups that differ in one step, with answers of the same members. */
function similar(
  groups: readonly [string, { method: string; steps: string[]; entries: HarEntry[] }][],
): { keys: string[]; at: number }[] {
  const byRest = new Map<string, { keys: string[]; at: number }>();
  for (const [key, { method, steps, entries }] of groups) {
    for (const [at, step] of steps.entries()) {
      if (step === "{}" || at === 0) continue;
      const rest = steps.map((each, index) => (index === at ? "*" : each)).join("/");
      const found = `${method} ${rest} ${membersOf(entries)}`;
      const known = byRest.get(found) ?? { keys: [], at };
      byRest.set(found, known);
      known.keys.push(key);
    }
  }
  const taken = new Set<string>();
  return [...byRest].flatMap(([found, { keys, at }]) => {
    const free = keys.filter((key) => !taken.has(key));
    if (free.length < LEAST_VALUES || found.endsWith(" ")) return [];
    for (const key of free) taken.add(key);
    return [{ keys: free, at }];
  });
}

function membersOf(entries: readonly HarEntry[]): string {
  const value = entries.find(({ answer }) => answer.sample)?.answer.sample?.value;
  return isRecord(value) ? Object.keys(value).toSorted().slice(0, 50).join(",") : "";
}

/** Names for the parameters: `orders/{}` is `orders/{orderId}`. */
function named(steps: readonly string[]): string[] {
  const taken = new Map<string, number>();
  return steps.map((step, index) => {
    if (step !== "{}") return step;
    const before = (steps[index - 1] ?? "").replaceAll(/[^A-Za-z0-9]/g, "");
    const one = /[^s]s$/.test(before) ? before.slice(0, -1) : before;
    const name = /^[A-Za-z]/.test(one) ? `${one.charAt(0).toLowerCase()}${one.slice(1)}Id` : "id";
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return `{${count === 1 ? name : `${name}${count}`}}`;
  });
}
