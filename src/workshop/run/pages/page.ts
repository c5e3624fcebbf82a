import type { Deviation } from "../../codec/record/deviations.ts";
import { isTrue } from "../../expression/arithmetic.ts";
import { evaluate } from "../../expression/evaluate.ts";
import { parseExpression } from "../../expression/parse.ts";
import { renderTemplate } from "../../expression/template.ts";
import type { NextPage } from "../../file/model/tool-file.ts";
import { isRecord } from "../../../json/is-record.ts";
import { packJson, type PackedJson, unpackJson } from "../../../json/exact-json.ts";
import { showing } from "../completed-values.ts";
import type { MorePages, Success } from "../response-reader.ts";
import type { TellingParts, ToldTool } from "../told-answer.ts";
import type { UpstreamResponse } from "../upstream.ts";

// The part of reading pages that is the same in this thread and in those for very large answers.

type Value = Record<string, unknown>;

/** A page that was read. */
export interface ListPage {
  kind: "page";
  items: readonly unknown[];
  /** The members of the answer; its items are an empty list. */
  others: Value;
  count: number;
  /** What requests the next page; undefined if this is the last one. */
  following: PageRequest | undefined;
  deviations: readonly Deviation[];
}

/** The same, of which only a thread needs the values. */
export type PackedPage = Omit<ListPage, "kind" | "items" | "others"> & {
  kind: "packed page";
  items: PackedJson;
  others: PackedJson;
};

/** What the next page is requested with: an input field, or an address. */
export type PageRequest = { kind: "field"; field: string; value: string | number } | { kind: "link"; address: string };

/** The items of all pages, and the members of the last one, which say where to go on. */
export interface Gathered {
  items: readonly unknown[];
  others: Value;
  /** That of the last page. */
  status: number;
  deviations: readonly Deviation[];
  more: MorePages | undefined;
}

/** The same as it is sent to a thread. */
export type PackedPages = Omit<Gathered, "items" | "others"> & { items: readonly PackedJson[]; others: PackedJson };

/** The page in an answer that was read. */
export function pageIn(
  { name, spec: { paging } }: ToldTool,
  { value, deviations }: Success,
  { input, status, headers }: Pick<UpstreamResponse, "status" | "headers"> & { input: Value },
): ListPage {
  if (!paging) throw new Error(`${name} has no pages`);
  const { items: path, last, next } = paging;
  const found = memberAt(value, path);
  const items: readonly unknown[] = Array.isArray(found) ? found : [];
  const isEnd = last !== undefined && isTrue(evaluate(parseExpression(last), { ...value, input, status }));
  const following = isEnd ? undefined : nextPage(next, { input, value, count: items.length, headers });
  const others = withMemberAt(value, path, []);
  return { kind: "page", items, others, count: items.length, following, deviations };
}

export function packPage({ items, others, ...page }: ListPage): PackedPage {
  return { ...page, kind: "packed page", items: packJson(items), others: packJson(others) };
}

export function unpackPages({ items, others, ...pages }: PackedPages): Gathered {
  const all: unknown[] = [];
  // What was written of a list is one. One by one: a page may have more items than a call takes arguments.
  for (const page of items) for (const item of unpackJson(page) as unknown[]) all.push(item);
  return { ...pages, items: all, others: unpackJson(others) as Value };
}

/** What one answer with the items of all pages would say. */
export function gatheredAnswer(
  { values, hidden }: Pick<TellingParts, "values" | "hidden">,
  { response, paging }: ToldTool["spec"],
  { items, others, status, deviations, more }: Gathered,
  input: Value,
): Success {
  const whole = withMemberAt(others, paging?.items ?? "", items);
  const value = values.complete(response.type ?? "", whole, { input, status });
  const text = renderTemplate(response.text, { ...value, input, status }, showing(hidden, input));
  const success: Success = { kind: "success", value, deviations: [...deviations], text };
  return more ? { ...success, more } : success;
}

interface PageRead {
  input: Value;
  /** The answer as a value, and how many items it has. */
  value: Value;
  count: number;
  headers: UpstreamResponse["headers"];
}

/** Finds out whether there is another page. */
function nextPage(next: NextPage, { input, value, count, headers }: PageRead): PageRequest | undefined {
  switch (next.kind) {
    case "cursor": {
      const cursor = memberAt(value, next.from);
      const isThere = (typeof cursor === "string" && cursor !== "") || typeof cursor === "number";
      return isThere ? { kind: "field", field: next.to, value: cursor } : undefined;
    }
    case "page": {
      if (isLast(count, sizeOf(next.size, input))) return undefined;
      return { kind: "field", field: next.to, value: numberOf(input[next.to], next.first) + 1 };
    }
    case "offset": {
      if (isLast(count, sizeOf(next.size, input))) return undefined;
      return { kind: "field", field: next.to, value: numberOf(input[next.to], 0) + count };
    }
    case "link": {
      const address = next.from === undefined ? linkIn(headers) : memberAt(value, next.from);
      return typeof address === "string" && address !== "" ? { kind: "link", address } : undefined;
    }
  }
}

/** The value at a path of members with dots. */
function memberAt(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((found, name) => {
    return isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

/** A copy with another value at a path. */
function withMemberAt(value: unknown, path: string, member: unknown): Value {
  const [name = "", ...rest] = path.split(".");
  const members = isRecord(value) ? value : {};
  return { ...members, [name]: rest.length === 0 ? member : withMemberAt(members[name], rest.join("."), member) };
}

/** An empty page, or one that is shorter than its size. */
function isLast(count: number, size: number | undefined): boolean {
  return count === 0 || (size !== undefined && count < size);
}

function sizeOf(size: string | number | undefined, input: Value): number | undefined {
  const given = typeof size === "string" ? input[size] : size;
  return typeof given === "number" ? given : undefined;
}

function numberOf(value: unknown, standard: number): number {
  return typeof value === "number" ? value : standard;
}

/** RFC 8288: `<https://…?page=2>; rel="next"`. */
function linkIn(headers: UpstreamResponse["headers"]): string | undefined {
  const header = headers["link"];
  const text = Array.isArray(header) ? header.join(", ") : (header ?? "");
  for (const [, address, parameters = ""] of text.matchAll(
    /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;<\s]*))*)/g,
  )) {
    const [, quoted, plain = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(parameters) ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes("next")) return address;
  }
  return undefined;
}
