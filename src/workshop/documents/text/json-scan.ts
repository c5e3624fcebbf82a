const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NEWLINE = 0x0a;

export interface JsonLimits {
  values: number;
  depth: number;
}

/** A key that is twice in the same object. */
export interface RepeatedKey {
  key: string;
  line: number;
}

const MOST_REPORTED = 20;

/**
 * Looks through JSON text before it is parsed: throws a RangeError where parsing would take too much memory, and finds
 * keys that are repeated, of which JSON.parse keeps only the last. The text need not be valid.
 */
export function scanJson(text: string, { values, depth }: JsonLimits): RepeatedKey[] {
  const repeated: RepeatedKey[] = [];
  /** The keys of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let count = 1;
  let line = 1;
  let awaitsKey = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case NEWLINE:
        line++;
        break;
      case QUOTE: {
        const end = endOfText(text, at);
        const keys = awaitsKey ? open.at(-1) : undefined;
        if (keys) {
          const key = text.slice(at + 1, end);
          if (keys.has(key) && repeated.length < MOST_REPORTED) repeated.push({ key, line });
          keys.add(key);
        }
        awaitsKey = false;
        at = end;
        break;
      }
      case COMMA:
        if (++count > values) throw new RangeError(`has more than ${values} values`);
        awaitsKey = open.at(-1) !== undefined;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        const isObject = text.charCodeAt(at) === OPEN_BRACE;
        if (++count > values) throw new RangeError(`has more than ${values} values`);
        open.push(isObject ? new Set() : undefined);
        if (open.length > depth) throw new RangeError(`is nested deeper than ${depth} levels`);
        awaitsKey = isObject;
        break;
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        awaitsKey = false;
        break;
    }
  }
  return repeated;
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
