import { isAlias, isMap, isScalar, isSeq, type Alias, type Document, type Node, type Pair } from "yaml";
import { isExact } from "../../../json/exact-number.ts";
import { aliasTargets, parseBoundedYaml } from "../../../source/bounded-yaml.ts";
import { keyOf } from "../../../source/yaml-source.ts";
import type { JsonLimits, RepeatedKey } from "./json-scan.ts";
import { setMember } from "./yaml-scalars.ts";

interface YamlValue {
  value: unknown;
  repeated: RepeatedKey[];
}

/** Each takes about three microseconds and a few hundred bytes while the text is read: three seconds for all. */
const MAX_LEXEMES = 1_000_000;
const MOST_REPORTED = 20;

/**
 * The value of YAML 1.2 (core schema: no timestamps, `off` is text) with merged maps, as JSON would hold it. Aliases
 * share one value, but each use counts. Throws YAMLParseError or TypeError for mistakes, RangeError beyond the limits.
 */
export function readLibraryYaml(text: string, limits: JsonLimits): YamlValue {
  const document = parsed(text);
  const [error] = document.errors;
  if (error?.code === "RESOURCE_EXHAUSTION") throw new RangeError("is too large to be read as YAML", { cause: error });
  if (error) throw error;
  const reader = new ValueReader(document, text, limits);
  return { value: reader.read(document.contents).value, repeated: reader.repeated };
}

/** With the limits of the library's reader as a predicate, as all others here are. */
function parsed(text: string): Document.Parsed {
  try {
    return parseBoundedYaml(text, { schema: "core", merge: true, uniqueKeys: false, maxLexemes: MAX_LEXEMES });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { message } = error;
    throw new RangeError(message.startsWith("nested") ? `is ${message}` : `has ${message}`, { cause: error });
  }
}

/** A value with the number of values that it would be without aliases, and its depth. */
interface Counted {
  value: unknown;
  count: number;
  depth: number;
}

const NOTHING: Counted = { value: null, count: 1, depth: 0 };

class ValueReader {
  readonly repeated: RepeatedKey[] = [];
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #targets: ReadonlyMap<Alias, Node | undefined>;
  readonly #anchored = new Map<unknown, Counted>();
  readonly #open = new Set<unknown>();

  constructor(document: Document, text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#targets = aliasTargets(document);
  }

  read(node: unknown): Counted {
    if (isAlias(node)) return this.#alias(node);
    if (isScalar(node)) return { value: scalarValue(node.value, node.source), count: 1, depth: 0 };
    if (!isMap(node) && !isSeq(node)) return NOTHING;
    if (this.#open.has(node)) throw new TypeError("has an alias inside its own anchor");
    this.#open.add(node);
    const read = isSeq(node) ? this.#list(node.items) : this.#map(node.items);
    this.#open.delete(node);
    const { values, depth } = this.#limits;
    if (read.count > values) throw new RangeError(`has more than ${values} values`);
    if (read.depth > depth) throw new RangeError(`is nested deeper than ${depth} levels`);
    if (node.anchor !== undefined) this.#anchored.set(node, read);
    return read;
  }

  #alias(alias: Alias): Counted {
    const target = this.#targets.get(alias);
    if (target === undefined) throw new TypeError(`has an alias *${alias.source} without an anchor before it`);
    return this.#anchored.get(target) ?? this.read(target);
  }

  #list(items: readonly unknown[]): Counted {
    const read = items.map((item) => this.read(item));
    return { value: read.map(({ value }) => value), ...total(read) };
  }

  #map(pairs: readonly Pair[]): Counted {
    const value: Record<string, unknown> = {};
    const own = new Set<string>();
    const read = pairs.map((pair) => {
      if (!isScalar(pair.key)) throw new TypeError("has a key that is not a word or a number");
      const member = this.read(pair.value);
      const key = keyOf(pair);
      // The library marks the key of a merge with a symbol; a quoted "<<" is a usual key.
      if (typeof pair.key.value === "symbol") mergeInto(value, member.value);
      else {
        if (own.has(key)) this.#repeat(key, pair.key.range?.[0] ?? 0);
        own.add(key);
        setMember(value, key, member.value);
      }
      return member;
    });
    return { value, ...total(read) };
  }

  #repeat(key: string, offset: number): void {
    if (this.repeated.length >= MOST_REPORTED) return;
    this.repeated.push({ key, line: this.#text.slice(0, offset).split("\n").length });
  }
}

function total(parts: readonly Counted[]): { count: number; depth: number } {
  let count = 1;
  let depth = 0;
  for (const part of parts) {
    count += part.count;
    depth = Math.max(depth, part.depth);
  }
  return { count, depth: depth + 1 };
}

/** Numbers that JSON or a double cannot hold are texts. */
function scalarValue(value: unknown, source: string | undefined): unknown {
  if (typeof value === "number") return isExact(source ?? "") || Number.isSafeInteger(value) ? value : (source ?? null);
  if (value === undefined || typeof value === "symbol" || typeof value === "function") return null;
  return typeof value === "object" && value !== null ? (source ?? null) : value;
}

/** Members of a merged map do not replace the map's own, wherever they are written. */
function mergeInto(target: Record<string, unknown>, merged: unknown): void {
  for (const source of Array.isArray(merged) ? (merged as unknown[]) : [merged]) {
    if (typeof source !== "object" || source === null) continue;
    for (const [key, value] of Object.entries(source)) {
      if (!Object.hasOwn(target, key)) setMember(target, key, value);
    }
  }
}
