const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPENINGS = ["{", "["];

/** Whether JSON is nested deeper than `depth`, told before it is parsed: what walks over it later may recurse. */
export function isDeeperThan(json: string, depth: number): boolean {
  return openings(json, depth) > depth && measure(json, depth);
}

/** How many objects and arrays there may be; those in text count too. Nearly every body is done with this. */
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
