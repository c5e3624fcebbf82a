import { linearPattern } from "./linear-pattern.ts";
import { parsePattern, UnusablePattern, type PatternNode } from "./parse-pattern.ts";
import { StepBudget, StepsExceeded } from "./step-budget.ts";

/** Readable characters first. */
const CHARACTERS = [..."Aa10-_.:/@, ".split(""), ...printable()];
/** Additional repetitions, tried until the text is long enough. */
const EXTRA = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55];
const MAX_LENGTH = 1_000;

interface TextLimits {
  pattern?: string | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
}

/**
 * A text within limits: the first valid one of `texts`, otherwise one generated for the pattern; undefined if none is
 * found.
 */
export function sampleText(texts: readonly string[], limits: TextLimits): string | undefined {
  const { pattern, minLength = 0, maxLength = Infinity } = limits;
  const isFitting = (text: string) => text.length >= minLength && text.length <= maxLength;
  try {
    const budget = new StepBudget();
    const matches = pattern === undefined ? undefined : linearPattern(pattern);
    const padding = "x".repeat(Math.min(Math.max(minLength, 1), maxLength, MAX_LENGTH));
    const made = pattern === undefined ? [padding] : madeFor(parsePattern(pattern));
    return [...texts, ...made].find((text) => isFitting(text) && (matches?.test(text, budget) ?? true));
  } catch (error) {
    if (error instanceof UnusablePattern || error instanceof StepsExceeded) return undefined;
    throw error;
  }
}

function madeFor(pattern: PatternNode): string[] {
  return EXTRA.map((extra) => write(pattern, extra)).filter((text) => text.length <= MAX_LENGTH);
}

/** Edges and lookarounds add no characters; the test checks them. */
function write(node: PatternNode, extra: number): string {
  switch (node.kind) {
    case "set":
      return CHARACTERS.find((character) => node.set.has(character.codePointAt(0) ?? 0)) ?? "";
    case "sequence":
      return joined(node.parts.length, (index) => write(node.parts[index] as PatternNode, extra));
    case "choice":
      return node.options[0] ? write(node.options[0], extra) : "";
    case "repeat": {
      const part = write(node.part, extra);
      return joined(Math.min(node.max, node.min + extra), () => part);
    }
    case "edge":
    case "look":
      return "";
  }
}

/** Stops if it is too long: nested repetitions can require billions. */
function joined(count: number, part: (index: number) => string): string {
  let text = "";
  for (let index = 0; index < count && text.length <= MAX_LENGTH; index++) {
    const next = part(index);
    if (next === "" && count > MAX_LENGTH) break;
    text += next;
  }
  return text;
}

function printable(): string[] {
  return Array.from({ length: 94 }, (_, index) => String.fromCodePoint(33 + index));
}
