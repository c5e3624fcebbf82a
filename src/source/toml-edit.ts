import { stringify } from "smol-toml";
import type { SourceChange } from "./source-change.ts";

/** Changes single lines of a TOML text; throws if that is not possible, for example inside { }. */
export function editToml(text: string, changes: readonly SourceChange[]): string {
  return changes.reduce((edited, change) => new TomlText(edited).apply(change), text);
}

class TomlText {
  readonly #text: string;
  readonly #eol: string;
  readonly #statements: readonly TomlStatement[];

  constructor(text: string) {
    this.#text = text;
    this.#eol = text.includes("\r\n") ? "\r\n" : "\n";
    this.#statements = tomlStatements(text);
  }

  apply({ path: given, value }: SourceChange): string {
    const path = given.map(String);
    const present = this.#statements.filter((statement) => isBelow(statement.path, path));
    const [first] = present;
    if (value === undefined) {
      if (!first) throw new TypeError("not found");
      return this.#without(present);
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) return this.#withPair(path, value);
    if (!first) return this.#withTable(path, value);
    // At the position of the old table; pairs are in the middle of another table.
    if (first.kind === "table") return this.#without(present, this.#written(path, value));
    return new TomlText(this.#without(present)).#withTable(path, value);
  }

  #written(path: readonly string[], value: object): string {
    const content = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return `${stringify(content).trimEnd()}\n`.replaceAll("\n", this.#eol);
  }

  /** After the tables of the same section, or at the end. */
  #withTable(path: readonly string[], value: object): string {
    const section = path.slice(0, -1);
    const last = this.#statements.findLast((statement) => isBelow(statement.path, section));
    const at = last?.end ?? this.#text.length;
    const before = this.#text.slice(0, at);
    const after = this.#text.slice(at);
    const broken = before === "" || before.endsWith("\n") ? before : before + this.#eol;
    const space = broken === "" || ENDS_BLANK.test(broken) ? "" : this.#eol;
    const spaceAfter = STARTS_BLANK.test(after) ? "" : this.#eol;
    return broken + space + this.#written(path, value) + spaceAfter + after;
  }

  #withPair(path: readonly string[], value: unknown): string {
    const pair = this.#statements.find(({ kind, path: known }) => kind === "pair" && isSame(known, path));
    const [, written = ""] = /^\w+ = ([^]*)\n$/.exec(stringify({ value })) ?? [];
    if (pair) return this.#text.slice(0, pair.value[0]) + written + this.#text.slice(pair.value[1]);
    const table = path.slice(0, -1);
    const header = this.#statements.findIndex(({ kind, path: known }) => kind === "table" && isSame(known, table));
    if (header === -1) throw new TypeError("not a separate table");
    let last = this.#statements[header];
    for (const statement of this.#statements.slice(header + 1)) {
      if (statement.kind === "table") break;
      last = statement;
    }
    const { start = 0, end = 0 } = last ?? {};
    const [indent = ""] = /^[ \t]*/.exec(this.#text.slice(start)) ?? [];
    const before = this.#text.slice(0, end);
    const broken = before.endsWith("\n") ? before : before + this.#eol;
    const line = stringify({ [path.at(-1) ?? ""]: value }).trimEnd();
    return broken + indent + line + this.#eol + this.#text.slice(end);
  }

  /**
   * Removes comments inside a table with it, and keeps those above it. `instead` is inserted at the position of the
   * first.
   */
  #without(statements: readonly TomlStatement[], instead = ""): string {
    let text = this.#text;
    for (const [index, { start, end }] of [...this.#pieces(statements).entries()].toReversed()) {
      const before = text.slice(0, start);
      const after = text.slice(end);
      const written = index === 0 ? instead : "";
      const hasSpaceTwice = written === "" && ENDS_BLANK.test(before) && STARTS_BLANK.test(after);
      text = (hasSpaceTwice ? before.replace(/\r?\n$/, "") : before) + written + after;
    }
    return text;
  }

  /** Consecutive statements, with what is between them, form one piece of text. */
  #pieces(statements: readonly TomlStatement[]): { start: number; end: number }[] {
    const found: { start: number; end: number }[] = [];
    let isOpen = false;
    for (const statement of this.#statements) {
      const { kind, start, end } = statement;
      const last = found.at(-1);
      const isMeant = statements.includes(statement);
      // A comment above another table belongs to that table.
      if (isMeant && isOpen && last && kind === "pair") last.end = end;
      else if (isMeant) found.push({ start, end });
      isOpen = isMeant;
    }
    return found;
  }
}

const ENDS_BLANK = /(?:^|\n)\r?\n$/;
const STARTS_BLANK = /^[ \t]*(?:$|\r?\n)/;

function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return above.length <= path.length && above.every((key, index) => path[index] === key);
}

function isSame(path: readonly string[], other: readonly string[]): boolean {
  return path.length === other.length && isBelow(path, other);
}

/** One statement of a TOML text: the header of a table, or a key with its value. */
interface TomlStatement {
  kind: "table" | "pair";
  /** From the root of the document. */
  path: readonly string[];
  /** The start of its line. */
  start: number;
  /** After its last line break. */
  end: number;
  /** For a pair: the range of its value. */
  value: readonly [number, number];
}

const KEY_PART = /[ \t]*(?:([\w-]+)|"((?:\\.|[^"\\\n])*)"|'([^'\n]*)')[ \t]*/y;

/** The statements of a valid TOML text; comments and spaces are between them. */
function tomlStatements(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  for (let start = 0; start < text.length;) {
    const [space = ""] = /^[ \t]*/.exec(text.slice(start, start + 1_000)) ?? [];
    const at = start + space.length;
    if (text[at] === "#" || text[at] === "\n" || text[at] === "\r" || at >= text.length) {
      start = lineEnd(text, at);
    } else if (text[at] === "[") {
      const { path } = keyAt(text, text[at + 1] === "[" ? at + 2 : at + 1);
      table = path;
      const end = lineEnd(text, at);
      statements.push({ kind: "table", path, start, end, value: [end, end] });
      start = end;
    } else {
      const { path, end: equals } = keyAt(text, at);
      const from = equals + 1 + (/^[ \t]*/.exec(text.slice(equals + 1, equals + 1_000))?.[0].length ?? 0);
      const to = valueEnd(text, from);
      const end = lineEnd(text, to);
      statements.push({ kind: "pair", path: [...table, ...path], start, end, value: [from, to] });
      start = end;
    }
  }
  return statements;
}

/** A dotted key; `end` is what follows it: a bracket or an equals sign. */
function keyAt(text: string, at: number): { path: string[]; end: number } {
  const path: string[] = [];
  const part = new RegExp(KEY_PART);
  part.lastIndex = at;
  for (;;) {
    const [, bare, basic, literal] = part.exec(text) ?? [];
    const name = bare ?? literal ?? (basic === undefined ? undefined : unescaped(basic));
    if (name === undefined) throw new TypeError("no key");
    path.push(name);
    if (text[part.lastIndex] !== ".") return { path, end: part.lastIndex };
    part.lastIndex++;
  }
}

/** Escapes in keys are rare: those that JSON also has are supported, others are refused. */
function unescaped(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

function valueEnd(text: string, at: number): number {
  if (/["']/.test(text[at] ?? "")) return stringEnd(text, at);
  if (!/[[{]/.test(text[at] ?? "")) {
    const [plain = ""] = /^[^#\r\n]*/.exec(text.slice(at)) ?? [];
    return at + plain.trimEnd().length;
  }
  let depth = 0;
  for (let here = at; here < text.length; here++) {
    const sign = text[here] ?? "";
    if (/["']/.test(sign)) here = stringEnd(text, here) - 1;
    else if (sign === "#") here = lineEnd(text, here) - 1;
    else if (/[[{]/.test(sign)) depth++;
    else if (/[\]}]/.test(sign) && --depth === 0) return here + 1;
  }
  throw new TypeError("an unterminated value");
}

function stringEnd(text: string, at: number): number {
  const quote = text[at] ?? "";
  const isLong = text.startsWith(quote.repeat(3), at);
  const mark = isLong ? quote.repeat(3) : quote;
  for (let here = at + mark.length; here < text.length; here++) {
    if (quote === '"' && text[here] === "\\") here++;
    else if (text.startsWith(mark, here)) {
      // Up to two quotes may come before the three that end it.
      let end = here + mark.length;
      if (isLong && text[end] === quote) end += text[end + 1] === quote ? 2 : 1;
      return end;
    }
  }
  throw new TypeError("an unterminated text");
}

/** After the line break. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}
