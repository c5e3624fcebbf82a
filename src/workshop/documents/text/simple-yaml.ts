import type { JsonLimits, RepeatedKey } from "./json-scan.ts";
import { YamlCursor } from "./yaml-cursor.ts";
import { NotSimple, setMember } from "./yaml-scalars.ts";
import { isExact } from "../../../json/exact-number.ts";

const NUMBER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

const NEWLINE = 0x0a;
const HASH = 0x23;
const MOST_REPORTED = 20;
const MAX_KEY = 1_000;

/**
 * Reads YAML as people and programs usually write it, about thirty times as fast as the library and with little memory.
 * Undefined for everything else: tags, merged maps, explicit keys, several documents, and mistakes. Throws a RangeError
 * beyond the limits.
 */
export function readSimpleYaml(
  text: string,
  limits: JsonLimits,
): { value: unknown; repeated: RepeatedKey[] } | undefined {
  const body = text.replace(/^((?: *(?:#[^\n]*)?\n)*)--- *\n/, "$1\n");
  if (/\r|^(?:%|(?:---|\.\.\.)(?:\s|$))/m.test(body)) return undefined;
  const reader = new SimpleReader(body, limits);
  try {
    return { value: reader.document(), repeated: reader.repeated };
  } catch (error) {
    if (error instanceof NotSimple) return undefined;
    throw error;
  }
}

/** An anchored value with the number of values in it and its height. */
interface Anchored {
  value: unknown;
  count: number;
  height: number;
}

class SimpleReader {
  readonly repeated: RepeatedKey[] = [];
  readonly #cursor: YamlCursor;
  readonly #limits: JsonLimits;
  readonly #anchors = new Map<string, Anchored>();
  /** Each use of an alias counts, because a few lines could mean millions of values. */
  #count = 0;
  #depth = 0;
  #deepest = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#cursor = new YamlCursor(text);
    this.#limits = limits;
  }

  document(): unknown {
    const column = this.#cursor.nextLine();
    // A scalar is not a document of use.
    if (column !== 0 || !this.#isCollection()) throw new NotSimple();
    const value = this.#node(column, -1);
    if (this.#cursor.nextLine() !== -1) throw new NotSimple();
    return value;
  }

  #isCollection(): boolean {
    const sign = this.#cursor.text[this.#cursor.at];
    return sign === "[" || sign === "{" || (sign === "-" && this.#cursor.isSpaceAfter()) || this.#isKey();
  }

  /** A value that begins here, in the given column, inside of something in the column `parent`. */
  #node(column: number, parent: number): unknown {
    const cursor = this.#cursor;
    if (cursor.text[cursor.at] === "-" && cursor.isSpaceAfter()) return this.#list(column);
    return this.#isKey() ? this.#map(column) : this.#scalarOrFlow(parent);
  }

  #list(column: number): unknown[] {
    const cursor = this.#cursor;
    const items: unknown[] = [];
    this.#enter();
    do {
      if (cursor.text[cursor.at] !== "-" || !cursor.isSpaceAfter()) {
        // A list may be in the column of the key that it belongs to: then the next key ends it.
        cursor.at -= column;
        break;
      }
      cursor.at++;
      cursor.skipSpaces();
      const isEmpty = cursor.isBreak() || cursor.code() === HASH;
      items.push(isEmpty ? this.#below(column, false) : this.#item(column));
    } while (this.#goesOn(column));
    this.#leave();
    return items;
  }

  #item(parent: number): unknown {
    const cursor = this.#cursor;
    const sign = cursor.text[cursor.at];
    if (sign === "&" || sign === "*") return this.#value(parent, false);
    return this.#node(cursor.column(), parent);
  }

  #map(column: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    const cursor = this.#cursor;
    this.#enter();
    do {
      if (cursor.text[cursor.at] === "-" && cursor.isSpaceAfter()) throw new NotSimple();
      const start = cursor.at;
      const key = this.#key();
      cursor.skipSpaces();
      this.#set(map, key, this.#value(column, true), start);
    } while (this.#goesOn(column));
    this.#leave();
    return map;
  }

  /** Whether the next line has the same column. A smaller one ends the collection. */
  #goesOn(column: number): boolean {
    const next = this.#cursor.nextLine();
    if (next > column) throw new NotSimple();
    if (next === column) return true;
    // The collection around this one looks at the line again.
    this.#cursor.at = Math.max(0, this.#cursor.at - Math.max(next, 0));
    return false;
  }

  /** What follows a colon, or an anchor in a list. */
  #value(parent: number, isOfKey: boolean): unknown {
    const cursor = this.#cursor;
    switch (cursor.text[cursor.at]) {
      case "&":
        return this.#anchored(parent, isOfKey);
      case "*": {
        const name = this.#name();
        cursor.endLine();
        return this.#alias(name);
      }
      case "#":
      case "\n":
      case undefined:
        return this.#below(parent, isOfKey);
      default:
        return this.#scalarOrFlow(parent);
    }
  }

  /** The value in the lines below; null if they are not indented. */
  #below(parent: number, isOfKey: boolean): unknown {
    const cursor = this.#cursor;
    if (cursor.code() === HASH) cursor.skipLine();
    const column = cursor.nextLine();
    const isList = isOfKey && column === parent && cursor.text[cursor.at] === "-" && cursor.isSpaceAfter();
    if (column > parent || isList) return this.#node(column, parent);
    this.#add();
    cursor.at = Math.max(0, cursor.at - Math.max(column, 0));
    return null;
  }

  #anchored(parent: number, isOfKey: boolean): unknown {
    const cursor = this.#cursor;
    const name = this.#name();
    if (!cursor.isBreak() && cursor.text[cursor.at] !== " ") throw new NotSimple();
    cursor.skipSpaces();
    if (cursor.text[cursor.at] === "&" || cursor.text[cursor.at] === "*" || (!isOfKey && this.#isKeyHere()))
      throw new NotSimple();
    const [count, deepest] = [this.#count, this.#deepest];
    this.#deepest = this.#depth;
    this.#anchors.delete(name);
    const value = this.#value(parent, isOfKey);
    this.#anchors.set(name, { value, count: this.#count - count, height: this.#deepest - this.#depth });
    this.#deepest = Math.max(this.#deepest, deepest);
    return value;
  }

  #isKeyHere(): boolean {
    return !this.#cursor.isBreak() && this.#cursor.code() !== HASH && this.#isKey();
  }

  #alias(name: string): unknown {
    const anchored = this.#anchors.get(name);
    if (!anchored) throw new NotSimple();
    this.#add(anchored.count);
    this.#deepest = Math.max(this.#deepest, this.#depth + anchored.height);
    this.#checkDepth(this.#depth + anchored.height);
    return anchored.value;
  }

  /** The name of an anchor or an alias. */
  #name(): string {
    const cursor = this.#cursor;
    const pattern = /[&*]([\w.-]{1,200})/y;
    pattern.lastIndex = cursor.at;
    const name = pattern.exec(cursor.text)?.[1];
    if (name === undefined) throw new NotSimple();
    cursor.at += name.length + 1;
    return name;
  }

  /** Whether a key and its colon are here. */
  #isKey(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    const sign = cursor.text[start];
    if (sign === '"' || sign === "'") {
      cursor.quoted(-1);
      const isInLine = !cursor.text.slice(start, cursor.at).includes("\n");
      cursor.skipSpaces();
      const isKey = isInLine && cursor.text[cursor.at] === ":" && cursor.isSpaceAfter();
      cursor.at = start;
      return isKey;
    }
    if (sign === "[" || sign === "{") return false;
    return colonIn(cursor.text, start) !== -1;
  }

  #key(): string {
    const cursor = this.#cursor;
    const start = cursor.at;
    const sign = cursor.text[start];
    let key: string;
    if (sign === '"' || sign === "'") {
      key = cursor.quoted(-1);
      cursor.skipSpaces();
      if (cursor.text[cursor.at] !== ":" || !cursor.isSpaceAfter()) throw new NotSimple();
      if (cursor.text.slice(start, cursor.at).includes("\n")) throw new NotSimple();
      cursor.at++;
    } else {
      const colon = colonIn(cursor.text, start);
      if (colon === -1) throw new NotSimple();
      key = withoutEnd(cursor.text.slice(start, colon));
      if (!canBePlain(key, "") || key === "<<") throw new NotSimple();
      cursor.at = colon + 1;
    }
    if (cursor.at - start > MAX_KEY) throw new NotSimple();
    return key;
  }

  #scalarOrFlow(parent: number): unknown {
    const cursor = this.#cursor;
    const sign = cursor.text[cursor.at];
    if (sign === "[" || sign === "{") {
      const value = this.#flow(parent);
      cursor.endLine();
      return value;
    }
    this.#add();
    if (sign === "|" || sign === ">") return cursor.block(parent);
    if (sign !== '"' && sign !== "'") return plainValue(this.#plain(parent));
    const text = cursor.quoted(parent);
    cursor.endLine();
    return text;
  }

  /** A plain scalar, which may go on in lines that are indented. */
  #plain(parent: number): string {
    const cursor = this.#cursor;
    const { text } = cursor;
    let { text: whole, hasComment } = this.#plainLine(true);
    for (let empty = 0; !hasComment && cursor.code() === NEWLINE;) {
      const back = cursor.at;
      cursor.at++;
      const start = cursor.at;
      cursor.skipSpaces();
      if (cursor.code() === NEWLINE) {
        empty++;
        continue;
      }
      if (cursor.isAtEnd || cursor.at - start <= parent || text[cursor.at] === "#") {
        cursor.at = back;
        break;
      }
      const line = this.#plainLine(false);
      whole += (empty === 0 ? " " : "\n".repeat(empty)) + line.text;
      ({ hasComment } = line);
      empty = 0;
    }
    return whole;
  }

  #plainLine(isFirst: boolean): { text: string; hasComment: boolean } {
    const cursor = this.#cursor;
    const end = cursor.text.indexOf("\n", cursor.at);
    const line = cursor.text.slice(cursor.at, end === -1 ? cursor.text.length : end);
    const comment = /[ \t]#/.exec(line)?.index ?? -1;
    const text = withoutEnd(comment === -1 ? line : line.slice(0, comment));
    if (isFirst && !canBePlain(text, "")) throw new NotSimple();
    if (/:(?:[ \t]|$)/.test(text)) throw new NotSimple();
    cursor.at = end === -1 ? cursor.text.length : end;
    return { text, hasComment: comment !== -1 };
  }

  /** `[…]` or `{…}`. */
  #flow(parent: number): unknown {
    const cursor = this.#cursor;
    const isMap = cursor.text[cursor.at] === "{";
    const map: Record<string, unknown> = {};
    const items: unknown[] = [];
    const close = isMap ? "}" : "]";
    this.#enter();
    cursor.at++;
    for (this.#flowSpace(parent); cursor.text[cursor.at] !== close; this.#flowSpace(parent)) {
      const start = cursor.at;
      if (isMap) {
        const key = this.#flowKey(parent);
        this.#set(map, key, this.#flowValue(parent), start);
      } else items.push(this.#flowValue(parent));
      this.#flowSpace(parent);
      if (cursor.text[cursor.at] === ",") cursor.at++;
      else if (cursor.text[cursor.at] !== close) throw new NotSimple();
    }
    cursor.at++;
    this.#leave();
    return isMap ? map : items;
  }

  #flowKey(parent: number): string {
    const cursor = this.#cursor;
    const start = cursor.at;
    const sign = cursor.text[start];
    const isQuoted = sign === '"' || sign === "'";
    const key = isQuoted ? cursor.quoted(parent) : this.#flowPlain();
    if (key === "<<" || cursor.at - start > MAX_KEY || cursor.text.slice(start, cursor.at).includes("\n"))
      throw new NotSimple();
    cursor.skipSpaces();
    if (cursor.text[cursor.at] !== ":" || (!isQuoted && !cursor.isSpaceAfter())) throw new NotSimple();
    cursor.at++;
    this.#flowSpace(parent);
    return key;
  }

  #flowValue(parent: number): unknown {
    const cursor = this.#cursor;
    const sign = cursor.text[cursor.at];
    if (sign === "[" || sign === "{") return this.#flow(parent);
    if (sign === "*") return this.#alias(this.#name());
    this.#add();
    const value = sign === '"' || sign === "'" ? cursor.quoted(parent) : plainValue(this.#flowPlain());
    cursor.skipSpaces();
    // A pair in a list is a map, and anchors are rare: the library reads them.
    if (cursor.text[cursor.at] === ":") throw new NotSimple();
    return value;
  }

  #flowPlain(): string {
    const cursor = this.#cursor;
    const pattern = /(?:[^,[\]{}:#\n]|:(?![\s,[\]{}]|$)|(?<![\s])#)+/y;
    pattern.lastIndex = cursor.at;
    const text = withoutEnd(pattern.exec(cursor.text)?.[0] ?? "");
    if (text === "" || !canBePlain(text, ",[]{}")) throw new NotSimple();
    cursor.at += text.length;
    return text;
  }

  /** Spaces, line breaks and comments; lines are indented by more than `parent`. */
  #flowSpace(parent: number): void {
    const cursor = this.#cursor;
    for (;;) {
      const before = cursor.at;
      cursor.skipSpaces();
      if (cursor.isAtEnd) throw new NotSimple();
      if (cursor.code() === HASH && cursor.at > before) cursor.skipLine();
      if (cursor.code() !== NEWLINE) return;
      const column = cursor.nextLine();
      if (column <= parent) throw new NotSimple();
    }
  }

  #set(map: Record<string, unknown>, key: string, value: unknown, offset: number): void {
    if (Object.hasOwn(map, key) && this.repeated.length < MOST_REPORTED) {
      this.repeated.push({ key, line: this.#cursor.text.slice(0, offset).split("\n").length });
    }
    setMember(map, key, value);
  }

  #enter(): void {
    this.#add();
    this.#deepest = Math.max(this.#deepest, ++this.#depth);
    this.#checkDepth(this.#depth);
  }

  #leave(): void {
    this.#depth--;
  }

  #add(count = 1): void {
    this.#count += count;
    const { values } = this.#limits;
    if (this.#count > values) throw new RangeError(`has more than ${values} values`);
  }

  #checkDepth(depth: number): void {
    if (depth > this.#limits.depth) throw new RangeError(`is nested deeper than ${this.#limits.depth} levels`);
  }
}

/** The colon after a plain key in a line; -1 if there is none. */
function colonIn(text: string, start: number): number {
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code) || code === NEWLINE) return -1;
    if (code === HASH && at > start && /[ \t]/.test(text[at - 1] ?? "")) return -1;
    if (code === 0x3a && /[ \t\n]/.test(text[at + 1] ?? "\n")) return at;
  }
}

/** Whether a text may be written without quotes, by how it begins. */
function canBePlain(text: string, more: string): boolean {
  const [first = "", second = ""] = text;
  if ("-?:".includes(first)) return first !== "" && second !== "" && !` \t${more}`.includes(second);
  return !",[]{}#&*!|>'\"%@`".includes(first);
}

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text.charCodeAt(end - 1) === 0x20 || text.charCodeAt(end - 1) === 0x09)) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** The value of a plain scalar by the core schema. Numbers that JSON or a double cannot hold are texts. */
function plainValue(text: string): unknown {
  switch (text) {
    case "":
    case "~":
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
  }
  const first = text.charCodeAt(0);
  // Digits, plus, minus and dot.
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d || first === 0x2e;
  if (!mayBeNumber || NOT_FINITE.test(text) || !NUMBER.test(text)) return text;
  const value = Number(text);
  return isExact(text) || Number.isSafeInteger(value) ? value : text;
}
