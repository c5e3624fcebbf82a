import { nearestName } from "../../text/nearest-name.ts";
import type { Expression, Operator } from "./expression.ts";
import { FUNCTIONS, signatureOf } from "./functions.ts";
import { shorten } from "../../text/shorten.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isExactAsNumber } from "../../json/exact-json.ts";

/** Deeper expressions are meant to exhaust code that recurses. */
const MAX_DEPTH = 50;
const COMPARISONS = ["==", "!=", "<", "<=", ">", ">="];
const CONSTANTS = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
/** Words that cannot be names. */
export const RESERVED_WORDS: readonly string[] = [...CONSTANTS.keys(), "and", "or", "not"];

/** Parses an expression; an error is CONFIG_INVALID, with the column in the message. */
export function parseExpression(text: string): Expression {
  return new Parser(text).whole();
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  whole(): Expression {
    const expression = this.#either();
    const rest = this.#next;
    if (rest.kind !== "end") {
      const chained = COMPARISONS.includes(rest.text) ? "Join two comparisons with and." : undefined;
      throw this.#mistake(rest, `${shown(rest)} is not expected here`, chained);
    }
    return expression;
  }

  #either(): Expression {
    return this.#joined(["or"], () => this.#joined(["and"], () => this.#negated()));
  }

  #negated(): Expression {
    if (!this.#take("not")) return this.#compared();
    return this.#deeper(() => ({ kind: "not", of: this.#negated() }));
  }

  #compared(): Expression {
    const left = this.#sum();
    const operator = COMPARISONS.find((sign) => this.#take(sign));
    return operator ? { kind: "binary", operator: operator as Operator, left, right: this.#sum() } : left;
  }

  #sum(): Expression {
    return this.#joined(["+", "-"], () => this.#joined(["*", "/"], () => this.#signed()));
  }

  #signed(): Expression {
    if (!this.#take("-")) return this.#path();
    return this.#deeper(() => ({ kind: "minus", of: this.#signed() }));
  }

  #path(): Expression {
    let of = this.#deeper(() => this.#single());
    for (let steps = 0; ; steps++) {
      if (steps > MAX_DEPTH) throw this.#mistake(this.#next, "the path has too many steps");
      if (this.#take(".")) of = this.#member(of);
      else if (this.#take("[")) of = this.#itemOf(of);
      else return of;
    }
  }

  #member(of: Expression): Expression {
    const { text, column, kind } = this.#next;
    if (kind !== "name") throw this.#mistake(this.#next, "the name of a member is missing after the dot");
    this.#at += 1;
    return { kind: "member", of, name: text, column };
  }

  #itemOf(of: Expression): Expression {
    if (this.#take("]")) return { kind: "spread", of };
    const { text, kind } = this.#next;
    if (kind !== "number" || !/^\d{1,6}$/.test(text)) {
      throw this.#mistake(this.#next, "between [ and ] write the number of an item, or nothing for all of them");
    }
    this.#at += 1;
    this.#expect("]");
    return { kind: "item", of, index: Number(text) };
  }

  #single(): Expression {
    const token = this.#next;
    if (this.#take("(")) {
      const inner = this.#either();
      this.#expect(")");
      return inner;
    }
    if (token.kind === "sign" || token.kind === "end" || ["and", "or", "not"].includes(token.text)) {
      if (token.kind !== "text") throw this.#mistake(token, `a value is missing before ${shown(token)}`);
    }
    this.#at += 1;
    if (token.kind === "number") return { kind: "literal", value: Number(token.text) };
    if (token.kind === "text") return { kind: "literal", value: token.text };
    if (this.#take("(")) return this.#call(token);
    const constant = CONSTANTS.get(token.text);
    if (constant !== undefined) return { kind: "literal", value: constant };
    return { kind: "name", name: token.text, column: token.column };
  }

  #call({ text: name, column }: Token): Expression {
    const signature = signatureOf(name);
    if (!signature) {
      const meant = nearestName(name, Object.keys(FUNCTIONS));
      const hint = meant ? `Did you mean ${meant}?` : `There are ${Object.keys(FUNCTIONS).join(", ")}.`;
      throw mistake(this.#text, column, `there is no function ${name}`, hint);
    }
    const given: Expression[] = [];
    while (!this.#take(")")) {
      if (given.length > 0) this.#expect(",");
      given.push(this.#either());
    }
    const { min, max } = signature;
    if (given.length < min || given.length > max) {
      const wanted = min === max ? String(min) : `${min} to ${max}`;
      throw mistake(this.#text, column, `${name}() takes ${wanted} values, not ${given.length}`);
    }
    return { kind: "call", name, given, column };
  }

  /** A chain of operators of one precedence, evaluated from the left. */
  #joined(operators: readonly Operator[], operand: () => Expression): Expression {
    let left = operand();
    for (let links = 0; ; links++) {
      const operator = operators.find((sign) => this.#take(sign));
      if (!operator) return left;
      if (links > MAX_DEPTH) throw this.#mistake(this.#next, "the expression has too many parts");
      left = { kind: "binary", operator, left, right: operand() };
    }
  }

  #deeper(read: () => Expression): Expression {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#mistake(this.#next, "the expression is nested too deeply");
    const expression = read();
    this.#depth -= 1;
    return expression;
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "", column: this.#text.length + 1 };
  }

  #take(text: string): boolean {
    const { kind, text: found } = this.#next;
    const fits = found === text && (kind === "sign" || kind === "name");
    if (fits) this.#at += 1;
    return fits;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#mistake(this.#next, `${text} is missing before ${shown(this.#next)}`);
  }

  #mistake(token: Token, what: string, hint?: string): Error {
    return mistake(this.#text, token.column, what, hint);
  }
}

function shown({ kind, text }: Token): string {
  return kind === "end" ? "the end" : JSON.stringify(text);
}

interface Token {
  kind: "number" | "text" | "name" | "sign" | "end";
  /** For a string, without its quotes. */
  text: string;
  /** Counts from 1. */
  column: number;
}

const MAX_LENGTH = 2_000;
const PATTERN = /(\d+(?:\.\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|(==|!=|<=|>=|[-+*/<>()[\].,])/y;

/** Splits an expression into tokens; the last one is the end. */
function tokensOf(text: string): Token[] {
  if (text.length > MAX_LENGTH) throw mistake(text, MAX_LENGTH, `is longer than ${MAX_LENGTH} characters`);
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at += 1;
    if (at >= text.length) return [...tokens, { kind: "end", text: "", column: at + 1 }];
    const token = quotedAt(text, at) ?? plainAt(text, at);
    tokens.push({ kind: token.kind, text: token.text, column: at + 1 });
    at = token.end;
  }
}

/** The error for an expression, with the column. */
function mistake(text: string, column: number, what: string, hint?: string): NexusError {
  const shown = shorten(text, 80);
  return new NexusError("CONFIG_INVALID", `The expression ${JSON.stringify(shown)}, column ${column}: ${what}`, {
    hint,
  });
}

function plainAt(text: string, at: number): { kind: Token["kind"]; text: string; end: number } {
  PATTERN.lastIndex = at;
  const [whole, number, name] = PATTERN.exec(text) ?? [];
  if (whole === undefined) {
    const hint = { "=": "Compare with ==.", "&": "Write and.", "|": "Write or.", "!": "Write not." }[text[at] ?? ""];
    throw mistake(text, at + 1, `${JSON.stringify(text[at])} has no meaning here`, hint);
  }
  if (number !== undefined && !isExactAsNumber(number)) {
    throw mistake(
      text,
      at + 1,
      `${number} has too many digits to be an exact number`,
      `As text it is exact: '${number}'`,
    );
  }
  const kind = number === undefined ? (name === undefined ? "sign" : "name") : "number";
  return { kind, text: whole, end: at + whole.length };
}

/** In 'text' a backslash escapes the next character. */
function quotedAt(text: string, at: number): { kind: "text"; text: string; end: number } | undefined {
  const quote = text[at];
  if (quote !== "'" && quote !== '"') return undefined;
  let content = "";
  for (let index = at + 1; index < text.length; index++) {
    if (text[index] === quote) return { kind: "text", text: content, end: index + 1 };
    if (text[index] === "\\") index += 1;
    content += text[index] ?? "";
  }
  throw mistake(text, at + 1, `the text that begins here has no closing ${quote}`);
}
