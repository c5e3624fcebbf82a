import { shorten } from "../text/shorten.ts";
import { maskProse } from "../masking/find-secrets.ts";
import { isRecord } from "../json/is-record.ts";
import { parseJson } from "../json/parse-json.ts";

const MAX_LENGTH = 300;
/** The most useful first; includes those of RFC 6750 and 9457. */
const MESSAGES = ["message", "error_description", "detail", "error", "errors", "title", "reason", "description", "msg"];
const DEEPEST = 5;

/** The message of an HTTP error body in one short line; undefined for a web page or an empty body. */
export function wordsOfBody(body: string): string | undefined {
  if (titleOfPage(body) !== undefined) return undefined;
  const words = (messageIn(parseJson(body)) ?? body).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (words === "") return undefined;
  return shorten(maskProse(words.slice(0, 4 * MAX_LENGTH)), MAX_LENGTH);
}

/** The error message in a JSON value, at the usual places of APIs; undefined if there is none. */
export function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return messageIn(value[0], depth + 1);
  if (!isRecord(value)) return undefined;
  for (const name of MESSAGES) {
    const message = Object.hasOwn(value, name) ? messageIn(value[name], depth + 1) : undefined;
    if (message !== undefined) return message;
  }
  return undefined;
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

/** The title of a web page; "" for a page without one, undefined for anything else. */
export function titleOfPage(body: string): string | undefined {
  if (!/^\s*(?:<!doctype html|<html|<head|<title|<body)/i.test(body)) return undefined;
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(body) ?? [];
  return title
    .replaceAll(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 100);
}
