const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BLANK = 0x20;
const COMMA = 0x2c;
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

/**
 * Limits of a JSON text: its nesting, how many values it has, each object, list, text, number … counted, and how many
 * members one object has. An object with very many members takes far longer to go through than a list of as many items.
 */
interface JsonTextLimits {
  depth: number;
  values: number;
  members: number;
}

/** Whether JSON text is nested deeper than `depth`, checked before it is parsed, because later code may recurse. */
export function isDeeperThan(json: string, depth: number): boolean {
  return exceededLimit(json, { depth, values: Infinity, members: Infinity }) === "depth";
}

/**
 * The limit that a JSON text exceeds, found out before it is parsed, because a value takes many times the memory and time
 * of its text. In a text that is not JSON, what is counted means nothing.
 */
export function exceededLimit(json: string, limits: JsonTextLimits): keyof JsonTextLimits | undefined {
  // A value takes at least two characters, its own and a comma, and a member three more, its quotes and a colon.
  const fewest = Math.min(limits.values * 2, limits.members * 5);
  if (json.length >= fewest) return measure(json, limits);
  return limits.depth === Infinity || openings(json, limits.depth) <= limits.depth ? undefined : measure(json, limits);
}

/** The number of opening brackets, including those in strings. It decides about nearly every body. */
function openings(json: string, enough: number): number {
  let found = 0;
  for (const opening of OPENINGS) {
    for (let at = json.indexOf(opening); at !== -1 && found <= enough; at = json.indexOf(opening, at + 1)) found++;
  }
  return found;
}

function measure(json: string, limits: JsonTextLimits): keyof JsonTextLimits | undefined {
  /** Of the objects and lists around: how many members they have so far; none are counted in lists. */
  const counts: number[] = [];
  let depth = 0;
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === COMMA) {
      values++;
      const last = counts.length - 1;
      const count = (counts[last] ?? NaN) + 1;
      if (count > limits.members) return "members";
      counts[last] = count;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > limits.depth) return "depth";
      counts.push(code === OPEN_BRACE ? 1 : NaN);
      // The first value in it has no comma; an empty one has no value.
      if (!isClosedAt(json, at + 1)) values++;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--;
      counts.pop();
    }
    if (values > limits.values) return "values";
  }
  return undefined;
}

function isClosedAt(json: string, start: number): boolean {
  let at = start;
  while (at < json.length && json.charCodeAt(at) <= BLANK) at++;
  const code = json.charCodeAt(at);
  return code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** The closing quote; most texts have no escapes, and many are long. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end, start)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, quote: number, start: number): boolean {
  let at = quote - 1;
  while (at > start && json.charCodeAt(at) === BACKSLASH) at--;
  return (quote - at) % 2 === 0;
}
