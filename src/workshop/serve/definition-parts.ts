import { isRecord } from "../../json/is-record.ts";
import { bytesOf } from "../compile/json-schema.ts";

/** A part of a definition, as far as it fits: what is cut is `{ cut, bytes }`, with the path that gives it. */
export interface DefinitionPart {
  path: string;
  part: unknown;
  /** The member, item or character with which the next answer begins, if the part has more. */
  next?: number;
}

/** Smaller members are shown: a reference to them would not be much shorter. */
const SMALL_BYTES = 160;
/** Definitions are not nested deeper than they can be written. */
const MOST_DEPTH = 64;

/** The part at a JSON pointer, within a size; undefined if there is none. All of it can be read by following the cuts. */
export function definitionPart(
  definition: unknown,
  { path, from = 0, maxBytes }: { path: string; from?: number; maxBytes: number },
): DefinitionPart | undefined {
  const whole = valueAt(definition, path);
  if (whole === undefined) return undefined;
  if (typeof whole === "string") return textPart(whole, { path, from, maxBytes });
  const fits = (part: unknown) => bytesOf(part) <= maxBytes;
  const rest = from === 0 ? whole : membersFrom(whole, from, Infinity);
  if (fits(rest)) return { path, part: rest };
  const shown = (depth: number) => cutAt(whole, path, depth);
  // The deepest cut that fits shows the most.
  let best: unknown;
  for (let depth = 1; depth < MOST_DEPTH; depth++) {
    const part = membersFrom(shown(depth), from, Infinity);
    if (!fits(part)) break;
    best = part;
  }
  if (best !== undefined) return { path, part: best };
  const flat = shown(1);
  let count = isRecord(flat) ? Object.keys(flat).length - from : Array.isArray(flat) ? flat.length - from : 0;
  while (count > 1 && !fits(membersFrom(flat, from, count))) count >>= 1;
  return { path, part: membersFrom(flat, from, count), next: from + count };
}

function textPart(
  text: string,
  { path, from, maxBytes }: { path: string; from: number; maxBytes: number },
): DefinitionPart {
  // In JSON a UTF-16 unit takes at most six bytes.
  const end = from + Math.floor(maxBytes / 6);
  return { path, part: text.slice(from, end), ...(end < text.length ? { next: end } : {}) };
}

function membersFrom(value: unknown, from: number, count: number): unknown {
  if (Array.isArray(value)) return (value as unknown[]).slice(from, from + count);
  return isRecord(value) ? Object.fromEntries(Object.entries(value).slice(from, from + count)) : value;
}

/** `depth`: how many levels are shown. */
function cutAt(value: unknown, path: string, depth: number): unknown {
  if (depth === 0) {
    const bytes = bytesOf(value);
    return bytes <= SMALL_BYTES ? value : { cut: path, bytes };
  }
  const inner = (member: unknown, name: string | number) => {
    const isContainer = typeof member === "object" && member !== null;
    return cutAt(member, `${path}/${escaped(String(name))}`, isContainer ? depth - 1 : 0);
  };
  if (Array.isArray(value)) return (value as unknown[]).map(inner);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inner(member, name)]));
}

function valueAt(definition: unknown, path: string): unknown {
  if (path !== "" && !path.startsWith("/")) return undefined;
  let value = definition;
  for (const step of path.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
