/**
 * Characters that take no room: soft hyphens, joiners, marks of direction, variation selectors, tags. Without the flag
 * `u`, with which a search takes several times as long.
 */
export const INVISIBLE = String.raw`[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\udb40-\udb43][\udc00-\udfff]`;
/** Without the soft hyphen: then a text in Latin letters needs no search, because none of these can be in it. */
const BEYOND_LATIN = new RegExp(INVISIBLE.replace(String.raw`\u00ad`, ""));
const ALL = new RegExp(INVISIBLE, "g");

/** Whether a text has characters that cannot be seen, with which a value can be written so that it is not recognised. */
export function hasInvisible(text: string): boolean {
  return text.includes("\u00ad") || BEYOND_LATIN.test(text);
}

export function withoutInvisible(text: string): string {
  return text.replaceAll(ALL, "");
}

/** Replaces what a pattern finds in the text without these characters, together with those in it. */
export function replaceInvisibly(text: string, pattern: RegExp, replacement: string): string {
  const plain = withoutInvisible(text);
  if (plain.search(pattern) === -1) return text;
  let shown = "";
  // Positions in the text and in the plain one, up to which all is done.
  let [at, seen] = [0, 0];
  const gaps = new RegExp(INVISIBLE, "g");
  let gap = gaps.exec(text);
  /** The position in the text of a character of the plain one. */
  const placeOf = (index: number): number => {
    while (gap && gap.index - at <= index - seen) {
      seen += gap.index - at;
      at = gap.index + gap[0].length;
      gap = gaps.exec(text);
    }
    return at + index - seen;
  };
  let done = 0;
  for (const found of plain.matchAll(pattern)) {
    if (found[0] === "") continue;
    const start = placeOf(found.index);
    const end = placeOf(found.index + found[0].length - 1) + 1;
    shown += text.slice(done, start) + replacement;
    done = end;
  }
  return shown + text.slice(done);
}
