import { shorten } from "../../text/shorten.ts";
import { isDoubleText } from "../../json/exact-decimal.ts";
import { isExact } from "../../json/exact-number.ts";
import { wrongUsage } from "../command/command-line.ts";

const TEXT_OR_NUMBER = /"(?:\\.|[^"\\])*"|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Throws if the JSON has a number that would silently change; `what` names where it was given. */
export function requireExactNumbers(json: string, what: string): void {
  for (const [token] of json.matchAll(TEXT_OR_NUMBER)) {
    if (!token.startsWith('"') && !(isExact(token) && isDoubleText(token))) throw inexact(token, what);
  }
}

function inexact(number: string, what: string): Error {
  const shown = shorten(number, 40);
  const limit = isExact(number)
    ? "A number keeps 15 digits"
    : `Whole numbers must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
  return wrongUsage(
    `${what}: ${shown} cannot be sent exactly. ${limit}`,
    `If the server accepts text, send text: --args '{"key": "${shown}"}'.`,
  );
}
