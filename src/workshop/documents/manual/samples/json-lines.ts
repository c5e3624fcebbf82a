import type { SampleNode } from "./sample-node.ts";

const MAX_DEPTH = 60;
const MAX_LENGTH = 1_000_000;

/**
 * The value of a JSON sample with the lines of its members; undefined if it is not JSON. Manuals write comments, commas at
 * the end, `…` for what they leave out, and placeholders without quotes.
 */
export function jsonLines(text: string, firstLine: number): SampleNode | undefined {
  if (text.length > MAX_LENGTH || !/^\s*(?:\/\/[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*[[{]/.test(text)) return undefined;
  const reader = new JsonReader(text, firstLine);
  return reader.whole();
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  #line: number;

  constructor(text: string, firstLine: number) {
    this.#text = text;
    this.#line = firstLine;
  }

  whole(): SampleNode | undefined {
    const node = this.#value("", 0);
    this.#skip();
    return node && this.#at >= this.#text.length ? node : undefined;
  }

  #value(name: string, depth: number): SampleNode | undefined {
    this.#skip();
    const line = this.#line;
    const sign = this.#text[this.#at];
    if (depth > MAX_DEPTH || sign === undefined) return undefined;
    if (sign === "{" || sign === "[") return this.#many(name, sign, depth);
    if (sign === '"' || sign === "'") {
      const value = this.#string(sign);
      return value === undefined ? undefined : { name, attribute: false, line, value, children: [] };
    }
    return this.#bare(name);
  }

  #many(name: string, sign: "{" | "[", depth: number): SampleNode | undefined {
    const node: SampleNode = {
      name,
      attribute: false,
      line: this.#line,
      ...(sign === "[" ? { list: true as const } : {}),
      children: [],
    };
    const end = sign === "{" ? "}" : "]";
    this.#at++;
    for (;;) {
      this.#skip();
      const next = this.#text[this.#at];
      if (next === undefined) return undefined;
      if (next === end) {
        this.#at++;
        return node;
      }
      if (next === ",") {
        this.#at++;
        continue;
      }
      const child = sign === "[" ? this.#value("", depth + 1) : this.#member(depth);
      if (!child) return undefined;
      node.children.push(child);
      this.#skip();
      const after = this.#text[this.#at];
      if (after !== "," && after !== end) return undefined;
    }
  }

  #member(depth: number): SampleNode | undefined {
    const line = this.#line;
    const sign = this.#text[this.#at];
    let name: string | undefined;
    if (sign === '"' || sign === "'") name = this.#string(sign);
    else {
      name = /^[A-Za-z_$][\w$-]*/.exec(this.#text.slice(this.#at, this.#at + 200))?.[0];
      this.#at += name?.length ?? 0;
    }
    this.#skip();
    if (name === undefined || this.#text[this.#at] !== ":") return undefined;
    this.#at++;
    const value = this.#value(name, depth + 1);
    return value && { ...value, line };
  }

  #string(quote: string): string | undefined {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== quote) {
      if (this.#text[end] === "\n") return undefined;
      end += this.#text[end] === "\\" ? 2 : 1;
    }
    if (end >= this.#text.length) return undefined;
    const raw = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    try {
      return String(JSON.parse(`"${quote === "'" ? raw.replaceAll('"', String.raw`\"`) : raw}"`));
    } catch {
      return raw;
    }
  }

  #bare(name: string): SampleNode | undefined {
    const found = /^(?:<[^<>\n]{0,80}>|\{\{[^{}\n]{0,80}\}\}|[^\s,\]}{["/][^,\]}\n/]*)/.exec(
      this.#text.slice(this.#at, this.#at + 200),
    )?.[0];
    if (found === undefined) return undefined;
    const line = this.#line;
    this.#at += found.length;
    const text = found.trim();
    const node = { name, attribute: false, line, children: [] };
    if (text === "true" || text === "false") return { ...node, value: text === "true" };
    if (text === "null") return { ...node, value: null };
    const value = Number(text);
    if (/^-?\d/.test(text) && Number.isFinite(value))
      return { ...node, value: Number.isSafeInteger(value) || !Number.isInteger(value) ? value : text };
    return { ...node, value: text.startsWith("<") ? text : `<${text}>` };
  }

  /** Blanks, comments and dots. */
  #skip(): void {
    for (;;) {
      const rest = this.#text.slice(this.#at, this.#at + 2);
      const sign = rest[0];
      if (sign === "\n") this.#line++;
      if (sign !== undefined && /\s/.test(sign)) this.#at++;
      else if (rest === "//" || sign === "#") this.#to("\n");
      else if (rest === "/*") {
        const end = this.#text.indexOf("*/", this.#at);
        const to = end < 0 ? this.#text.length : end + 2;
        this.#line += (this.#text.slice(this.#at, to).match(/\n/g) ?? []).length;
        this.#at = to;
      } else if (sign === "…") this.#at++;
      else if (rest === "..") this.#at += /^\.+/.exec(this.#text.slice(this.#at, this.#at + 20))?.[0].length ?? 2;
      else return;
    }
  }

  #to(sign: string): void {
    const end = this.#text.indexOf(sign, this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }
}
