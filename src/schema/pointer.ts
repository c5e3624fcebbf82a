import { percentDecoded } from "../text/percent-decoded.ts";
import { isRecord } from "../json/is-record.ts";

/** A reference is followed many times, each time from its beginning, so its length is limited. */
const MAX_REFERENCE = 1_000;

/** The parts of a JSON pointer, `/a~1b/0`. */
export function pointerParts(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescapePart);
}

/** The same of a pointer in a URI, `#/a%20b`. */
export function fragmentParts(fragment: string): string[] {
  return fragment
    .split("/")
    .slice(1)
    .map((part) => unescapePart(percentDecoded(part)));
}

/** The name that one part of a JSON pointer stands for. */
export function unescapePart(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** One part of a JSON pointer. */
export function escapePart(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The target of a reference inside a schema; undefined if it is not inside. Nothing is fetched. */
export function referenced(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/") || reference.length > MAX_REFERENCE) return undefined;
  let found: unknown = root;
  for (const part of fragmentParts(reference)) {
    const isThere = (isRecord(found) || Array.isArray(found)) && Object.hasOwn(found, part);
    if (!isThere) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}
