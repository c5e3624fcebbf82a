import { shorten } from "../../text/shorten.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isExactAsNumber } from "../../json/exact-json.ts";

export interface Token {
  kind: "number" | "text" | "name" | "sign" | "end";
  /** For a string, without its quotes. */
  text: string;
  /** Counts from 1. */
  column: number;
}

const MAX_LENGTH = 2_000;
const PATTERN = /(\d+(?:\.\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|(==|!=|<=|>=|[-+*/<>()[\].,])/y;

/** Splits an expression into tokens; the last one is the end. */
export function tokensOf(text: string): Token[] {
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
export function mistake(text: string, column: number, what: string, hint?: string): NexusError {
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
