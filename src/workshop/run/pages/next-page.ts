import { isRecord } from "../../../json/is-record.ts";
import type { NextPage } from "../../file/model/tool-file.ts";
import type { UpstreamResponse } from "../upstream.ts";

type Value = Record<string, unknown>;

/** A page that was read. */
interface PageRead {
  input: Value;
  /** The answer as a value. */
  value: Value;
  items: readonly unknown[];
  answer: UpstreamResponse | undefined;
}

/** What the next page is requested with: an input field, or an address. Undefined after the last page. */
export type PageRequest = { kind: "field"; field: string; value: string | number } | { kind: "link"; address: string };

/** Finds out whether there is another page. */
export function nextPage(next: NextPage, { input, value, items, answer }: PageRead): PageRequest | undefined {
  switch (next.kind) {
    case "cursor": {
      const cursor = memberAt(value, next.from);
      const isThere = (typeof cursor === "string" && cursor !== "") || typeof cursor === "number";
      return isThere ? { kind: "field", field: next.to, value: cursor } : undefined;
    }
    case "page": {
      if (isLast(items, sizeOf(next.size, input))) return undefined;
      return { kind: "field", field: next.to, value: numberOf(input[next.to], next.first) + 1 };
    }
    case "offset": {
      if (isLast(items, sizeOf(next.size, input))) return undefined;
      return { kind: "field", field: next.to, value: numberOf(input[next.to], 0) + items.length };
    }
    case "link": {
      const address = next.from === undefined ? linkIn(answer) : memberAt(value, next.from);
      return typeof address === "string" && address !== "" ? { kind: "link", address } : undefined;
    }
  }
}

/** The value at a path of members with dots. */
export function memberAt(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((found, name) => {
    return isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

/** A copy with another value at a path. */
export function withMemberAt(value: unknown, path: string, member: unknown): Value {
  const [name = "", ...rest] = path.split(".");
  const members = isRecord(value) ? value : {};
  return { ...members, [name]: rest.length === 0 ? member : withMemberAt(members[name], rest.join("."), member) };
}

/** An empty page, or one that is shorter than its size. */
function isLast(items: readonly unknown[], size: number | undefined): boolean {
  return items.length === 0 || (size !== undefined && items.length < size);
}

function sizeOf(size: string | number | undefined, input: Value): number | undefined {
  const given = typeof size === "string" ? input[size] : size;
  return typeof given === "number" ? given : undefined;
}

function numberOf(value: unknown, standard: number): number {
  return typeof value === "number" ? value : standard;
}

/** RFC 8288: `<https://…?page=2>; rel="next"`. */
function linkIn(answer: UpstreamResponse | undefined): string | undefined {
  const header = answer?.headers["link"];
  const text = Array.isArray(header) ? header.join(", ") : (header ?? "");
  for (const [, address, parameters = ""] of text.matchAll(
    /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;<\s]*))*)/g,
  )) {
    const [, quoted, plain = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(parameters) ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes("next")) return address;
  }
  return undefined;
}
