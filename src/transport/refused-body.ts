import { maskedProse } from "../errors/masked-secrets.ts";
import { isRecord } from "../protocol/json-rpc.ts";
import { titleOfPage } from "./web-page.ts";

const MAX_LENGTH = 300;
/** Where APIs say in JSON what is wrong; RFC 6750 and 9457 among them. */
const TELLING = ["error_description", "message", "detail", "title", "error", "reason"];

/** What the body of an HTTP error says, in one short line; undefined for a web page and for nothing. */
export function wordsOfBody(body: string): string | undefined {
  if (titleOfPage(body) !== undefined) return undefined;
  const words = (wordsIn(parsed(body)) ?? body).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (words === "") return undefined;
  const shown = maskedProse(words.slice(0, 4 * MAX_LENGTH));
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}…` : shown;
}

function wordsIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!isRecord(value)) return undefined;
  for (const key of TELLING) {
    const words = wordsIn(value[key]);
    if (words !== undefined && words.trim() !== "") return words;
  }
  return undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
