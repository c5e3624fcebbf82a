/** What a name may begin with, and have in it (XML Schema, `\i` and `\c`). */
const NAME_CLASSES: Readonly<Record<string, string>> = {
  i: String.raw`\p{L}_:`,
  c: String.raw`\p{L}\p{N}._:\-`,
};

/** A pattern of XML Schema as one of JSON Schema; undefined if it uses what only XML Schema has. */
export function patternFrom(patterns: readonly string[]): string | undefined {
  const read = patterns.map(translated);
  if (read.some((each) => each === undefined) || read.length === 0) return undefined;
  return `^(?:${read.join("|")})$`;
}

function translated(pattern: string): string | undefined {
  let out = "";
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "\\") {
      const next = pattern[++at] ?? "";
      if (next === "I" || next === "C" || next === "" || pattern.startsWith("{Is", at + 1)) return undefined;
      const names = NAME_CLASSES[next];
      if (names !== undefined) out += isInClass ? names : `[${names}]`;
      else if (next === "-" && !isInClass) out += "-";
      else out += `\\${next}`;
    } else if (isInClass) {
      // One class without another has no counterpart.
      if (char === "[") return undefined;
      if (char === "]") isInClass = false;
      out += char;
    } else {
      if (char === "[") isInClass = true;
      // These have no meaning of their own: a pattern is about the whole text.
      out += char === "^" || char === "$" ? `\\${char}` : char;
      if (char === "[" && pattern[at + 1] === "^") out += pattern[++at] ?? "";
    }
  }
  return isInClass ? undefined : out;
}
