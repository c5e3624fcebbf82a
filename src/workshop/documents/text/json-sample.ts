import { parseExactWholes } from "../../../json/exact-json.ts";
import { isNestedDeeper } from "../../../json/nesting.ts";

const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_NESTING = 60;

/**
 * The value of a text that is JSON itself, such as the body of a saved request; undefined if it is not. Variables may be
 * in it without quotes, and lines that are comments.
 */
export function jsonSample(text: string): { value: unknown } | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  for (const each of [text, text.replaceAll(/(?<!["\w])\{\{[^{}]*\}\}(?!["\w])/g, "null"), withoutComments(text)]) {
    try {
      const value = parseExactWholes(each);
      return isNestedDeeper(value, MAX_NESTING) ? undefined : { value };
    } catch {
      // The next form is tried.
    }
  }
  return undefined;
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/\/.*$/gm, "");
}
