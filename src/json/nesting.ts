const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPENINGS = ["{", "["];

/**
 * Maximum nesting of objects and arrays in a server's message. Real messages are far below it, and code that reads,
 * hashes, compares or writes messages may recurse.
 */
export const MAX_NESTING = 256;

/**
 * Whether a value is nested deeper than this. Recurses only to that depth and allocates nothing, because every answer
 * is checked.
 */
export function isNestedDeeper(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isNestedDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) if (isNestedDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}

/** Whether JSON text is nested deeper than `depth`, checked before it is parsed, because later code may recurse. */
export function isDeeperThan(json: string, depth: number): boolean {
  return openings(json, depth) > depth && measure(json, depth);
}

/** The number of opening brackets, including those in strings. It decides about nearly every body. */
function openings(json: string, enough: number): number {
  let found = 0;
  for (const opening of OPENINGS) {
    for (let at = json.indexOf(opening); at !== -1 && found <= enough; at = json.indexOf(opening, at + 1)) found++;
  }
  return found;
}

function measure(json: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > limit) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}

function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
