import { CharacterSet } from "./character-set.ts";

/** A regular expression as a tree. Captures do not matter for a test. */
export type PatternNode =
  | { kind: "set"; set: CharacterSet }
  | { kind: "sequence"; parts: PatternNode[] }
  | { kind: "choice"; options: PatternNode[] }
  | { kind: "repeat"; part: PatternNode; min: number; max: number }
  | { kind: "edge"; edge: Edge }
  | { kind: "look"; part: PatternNode; isAhead: boolean; isNegative: boolean };

export type Edge = "start" | "end" | "boundary" | "noBoundary";

/** Why a pattern cannot be used, as the end of a sentence that begins with its name. */
export class UnusablePattern extends Error {
  override readonly name = "UnusablePattern";
}

const MAX_LENGTH = 4_000;
const MAX_DEPTH = 50;
const EDGES: Readonly<Record<string, Edge>> = { "^": "start", $: "end", "\\b": "boundary", "\\B": "noBoundary" };
const ESCAPE =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|[^])/uy;
const CLASS = /\[(?:[^\]\\]|\\[^])*\]/uy;
const CHARACTER = /[^]/uy;
const GROUP = /\((\?(?::|<?[=!]|<(?![=!])[^>]*>))?/uy;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/uy;

/** Parses a pattern with the grammar of JSON Schema: that of JavaScript with the flag `u`. */
export function parsePattern(source: string): PatternNode {
  requireGrammar(source);
  return new Parser(source).parse();
}

/** The parser relies on closed brackets and known escapes. */
function requireGrammar(source: string): void {
  if (source.length > MAX_LENGTH) throw new UnusablePattern(`is longer than ${MAX_LENGTH} characters`);
  try {
    RegExp(source, "u");
  } catch {
    throw new UnusablePattern("is not a regular expression");
  }
}

class Parser {
  readonly #source: string;
  readonly #sets = new Map<string, CharacterSet>();
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): PatternNode {
    return this.#choice(0);
  }

  #choice(depth: number): PatternNode {
    if (depth > MAX_DEPTH) throw new UnusablePattern(`has groups nested deeper than ${MAX_DEPTH}`);
    const options = [this.#sequence(depth)];
    while (this.#take("|")) options.push(this.#sequence(depth));
    const [only] = options;
    return options.length === 1 && only ? only : { kind: "choice", options };
  }

  #sequence(depth: number): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#next)) parts.push(this.#repeated(this.#atom(depth)));
    return { kind: "sequence", parts };
  }

  #atom(depth: number): PatternNode {
    if (this.#next === "(") return this.#group(depth);
    const text = this.#match(ESCAPE)?.[0] ?? this.#match(CLASS)?.[0] ?? this.#match(CHARACTER)?.[0] ?? "";
    const edge = EDGES[text];
    if (edge) return { kind: "edge", edge };
    if (/^\\[1-9k]/.test(text)) throw new UnusablePattern(`refers back to a group with ${text}`);
    return { kind: "set", set: this.#setOf(text) };
  }

  #group(depth: number): PatternNode {
    const [, sign = ""] = this.#match(GROUP) ?? [];
    if (sign === "" && this.#next === "?") throw new UnusablePattern("has a kind of group that is not supported");
    const part = this.#choice(depth + 1);
    this.#take(")");
    const [, behind, look] = /^\?(<?)([=!])$/.exec(sign) ?? [];
    if (look === undefined) return part;
    return { kind: "look", part, isAhead: behind === "", isNegative: look === "!" };
  }

  #repeated(part: PatternNode): PatternNode {
    const [whole, sign, least = "", comma, most = ""] = this.#match(QUANTIFIER) ?? [];
    if (whole === undefined) return part;
    if (sign !== undefined) {
      return { kind: "repeat", part, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    }
    const min = Number(least);
    return { kind: "repeat", part, min, max: most !== "" ? Number(most) : comma === "," ? Infinity : min };
  }

  #setOf(source: string): CharacterSet {
    const known = this.#sets.get(source) ?? new CharacterSet(source);
    this.#sets.set(source, known);
    return known;
  }

  get #next(): string {
    return this.#source[this.#at] ?? "";
  }

  #take(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at++;
    return true;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}
