/** One statement of a TOML text: the header of a table, or a key with its value. */
export interface TomlStatement {
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
export function tomlStatements(text: string): TomlStatement[] {
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
