/**
 * Invisible characters: control characters except the tab, line separators, format characters, default-ignorable
 * characters, lone surrogates and noncharacters. The format characters that enclose numbers in Arabic, Syriac and
 * Kaithi are visible.
 */
const unseen = () =>
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\p{Cf}\p{DI}\p{Cs}\p{NChar}](?<![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])/gu;

/** Most text has only these, and Node takes a millisecond to find out which characters the other pattern is about. */
const PLAIN = /^[\t\u0020-\u007e]*$/;

/**
 * One line of text from outside, with invisible characters escaped: they must not control the terminal, change the
 * direction of the text, hide words or make two names look alike. Characters that are part of an emoji or a word are
 * kept.
 */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(unseen(), (found, at: number) => (isNeeded(found, text, at) ? found : escaped(found)));
}

/** The same for text of many lines. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join("\n");
}

/** The same for JSON on one line, which keeps its value. */
export function visibleJson(json: string): string {
  if (PLAIN.test(json)) return json;
  return json.replace(unseen(), (found, at: number) => (isNeeded(found, json, at) ? found : inUnits(found)));
}

/** Whether the characters around it need it. */
function isNeeded(found: string, text: string, at: number): boolean {
  // One character and a selector before it, and one character after it.
  const before = text.slice(Math.max(0, at - 3), at);
  const after = text.slice(at + found.length, at + found.length + 2);
  switch (found) {
    case "\ufe0f":
    case "\ufe0e":
      return isStyled(before, after);
    case "\u200d":
      return joinsEmoji(before, after) || joinsLetters(before, after);
    case "\u200c":
      return joinsLetters(before, after);
    default:
      return found >= "\u{e0061}" && found <= "\u{e007f}" && isInFlag(text, at);
  }
}

/** A selector of colour or text style after an emoji, or of a keycap after a digit. */
function isStyled(before: string, after: string): boolean {
  return /\p{ExtPict}$/u.test(before) || (/[0-9#*]$/.test(before) && after.startsWith("\u20e3"));
}

function joinsEmoji(before: string, after: string): boolean {
  return /[\p{ExtPict}\p{EMod}]\ufe0f?$/u.test(before) && /^\p{ExtPict}/u.test(after);
}

/** Between letters of scripts that use joiners; or after the sign that removes a letter's vowel, where a word may end. */
function joinsLetters(before: string, after: string): boolean {
  if (/[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]$/.test(before)) return true;
  return [/.$/u.exec(before)?.[0] ?? "", /^./u.exec(after)?.[0] ?? ""].every((letter) =>
    /[\p{sc=Arab}\p{sc=Syrc}\p{sc=Beng}\p{sc=Deva}\p{sc=Gujr}\p{sc=Guru}\p{sc=Khmr}\p{sc=Knda}\p{sc=Mlym}\p{sc=Mymr}\p{sc=Orya}\p{sc=Sinh}\p{sc=Taml}\p{sc=Telu}]/u.test(
      letter,
    ),
  );
}

/** England, Scotland and Wales: no other flags are written with tags. */
const FLAGS = ["gbeng", "gbsct", "gbwls"].map((region) => {
  const tags = Array.from(region, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
  return `\u{1f3f4}${tags.join("")}\u{e007f}`;
});

function isInFlag(text: string, at: number): boolean {
  // A flag is no longer than this.
  const from = Math.max(0, at - 12);
  const start = text.slice(from, at).lastIndexOf("\u{1f3f4}");
  return start !== -1 && FLAGS.some((flag) => text.startsWith(flag, from + start));
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 256) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : inUnits(character);
}

function inUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
