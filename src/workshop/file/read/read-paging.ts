import type { NextPage, PagingSpec } from "../model/call-spec.ts";
import { oneOf, type Part, present } from "../../../format/part.ts";

const KINDS = ["cursor", "page", "offset", "link"] as const;
const DEFAULT_PAGES = 10;
const MAX_PAGES = 100;
const MAX_ITEMS = 100_000;
/** A field, or a path of fields. */
const PATH = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/;

export function readPaging(part: Part): PagingSpec {
  part.members([...KINDS, "items", "last", "maxPages", "maxItems"], ["items"]);
  const given = KINDS.filter((kind) => part.has(kind));
  const [kind] = given;
  if (part.isMap && given.length !== 1) part.error(`must say how the next page is requested: ${oneOf(KINDS)}`);
  const maxPages = readBound(part.part("maxPages"), MAX_PAGES) ?? DEFAULT_PAGES;
  return present({
    items: readPath(part.part("items")) ?? "",
    next: kind === undefined ? { kind: "link" as const } : readNext(part.part(kind), kind),
    last: part.part("last").text(),
    maxPages,
    maxItems: readBound(part.part("maxItems"), MAX_ITEMS),
  });
}

function readNext(part: Part, kind: (typeof KINDS)[number]): NextPage {
  switch (kind) {
    case "cursor":
      part.members(["from", "to"], ["from", "to"]);
      return { kind, from: readPath(part.part("from")) ?? "", to: part.part("to").text() ?? "" };
    case "page":
      part.members(["to", "first", "size"], ["to"]);
      return present({
        kind,
        to: part.part("to").text() ?? "",
        first: part.part("first").integer() ?? 1,
        size: readSize(part.part("size")),
      });
    case "offset":
      part.members(["to", "size"], ["to"]);
      return present({ kind, to: part.part("to").text() ?? "", size: readSize(part.part("size")) });
    case "link":
      return readLink(part);
  }
}

/** `true` for the header, or the path of the address in the answer. */
function readLink(part: Part): NextPage {
  if (part.isText) return present({ kind: "link" as const, from: readPath(part) });
  if (part.value() !== true)
    part.error("must be true for the Link header, or the field of the answer with the address");
  return { kind: "link" };
}

/** The name of a field, or a number. */
function readSize(part: Part): string | number | undefined {
  return part.isText ? part.text() : part.integer(1);
}

function readPath(part: Part): string | undefined {
  const path = part.text();
  if (path !== undefined && !PATH.test(path)) {
    part.error(`"${path}" is not a field of the answer`, "Write the name of a field, or a path of names with dots.");
  }
  return path;
}

function readBound(part: Part, most: number): number | undefined {
  const value = part.integer(1);
  if (value !== undefined && value > most) part.error(`must be ${most} or less, not ${value}`);
  return value;
}
