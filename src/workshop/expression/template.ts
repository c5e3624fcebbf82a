import { NexusError } from "../../errors/nexus-error.ts";
import { textOf } from "./arithmetic.ts";
import { evaluate } from "./evaluate.ts";
import type { Expression, Scope } from "./expression.ts";
import { mentioned } from "./names.ts";
import { parseExpression } from "./parse.ts";

/** A parsed text with `{expressions}`. */
export type Template = readonly (string | Expression)[];

/** `{{` and `}}` stand for braces. */
export function parseTemplate(text: string): Template {
  const parts: (string | Expression)[] = [];
  let plain = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    if ((sign === "{" || sign === "}") && text[at + 1] === sign) {
      plain += sign;
      at += 1;
    } else if (sign === "{") {
      const end = endOf(text, at);
      parts.push(plain, parseExpression(text.slice(at + 1, end)));
      plain = "";
      at = end;
    } else {
      plain += sign;
    }
  }
  return [...parts, plain].filter((part) => part !== "");
}

/**
 * "Found {count} options from {input.arrival}" with the values of the scope; null is written as nothing. `show` writes
 * each value; it also gets its text.
 */
export function renderTemplate(
  text: string | Template,
  scope: Scope,
  show: (text: string, value: unknown) => string = (shown) => shown,
): string {
  if (typeof text === "string" && !/[{}]/.test(text)) return text;
  const parts = typeof text === "string" ? parseTemplate(text) : text;
  let written = "";
  for (const part of parts) {
    if (typeof part === "string") written += part;
    else {
      const value = evaluate(part, scope);
      written += show(textOf(value), value);
    }
  }
  return written;
}

/** All names in its expressions. */
export function namesInTemplate(template: Template): string[] {
  return template.flatMap((part) => (typeof part === "string" ? [] : mentioned(part)));
}

function endOf(text: string, start: number): number {
  let quote = "";
  for (let at = start + 1; at < text.length; at++) {
    const sign = text[at] ?? "";
    if (quote !== "" && sign === "\\") at += 1;
    else if (sign === quote) quote = "";
    else if (quote === "" && (sign === "'" || sign === '"')) quote = sign;
    else if (quote === "" && sign === "}") return at;
  }
  throw new NexusError("CONFIG_INVALID", `The { at column ${start + 1} is not closed`, {
    hint: "A brace that is meant as text is written twice: {{",
  });
}
