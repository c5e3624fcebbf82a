const NUMBERS = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

/** `1,000`, `ten` or `3.5` as a number. */
export function numberWord(text: string): number | undefined {
  const word = NUMBERS.indexOf(text.toLowerCase());
  if (word >= 0) return word;
  const value = Number(text.replaceAll(/[,'](?=\d{3})/g, ""));
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}

/** The words of a text or a name in small letters, in the singular: `roomTypes`, `Room types` are room, type. */
export function singularWords(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map(singular);
}

const IRREGULAR: Readonly<Record<string, string>> = {
  children: "child",
  people: "person",
  persons: "person",
  adresses: "address",
  men: "man",
  women: "woman",
  status: "status",
  address: "address",
  is: "is",
  days: "day",
};

function singular(word: string): string {
  const irregular = Object.hasOwn(IRREGULAR, word) ? IRREGULAR[word] : undefined;
  if (irregular !== undefined) return irregular;
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

/** The same text for names that differ only in case, number, underscores and blanks. */
export function looseName(text: string): string {
  return singularWords(text).join("");
}

const MARKS =
  /\[\s*(?:assumption|assumed|undocumented|observed|tb[dca]|todo|to be (?:confirmed|defined|decided|announced)|unclear|unconfirmed|unverified|unknown|experimental|beta|draft|annahme|offen|undokumentiert|\?)[^\]]{0,200}\]|\((?:tb[dca]|todo|to be (?:confirmed|defined|decided)|unclear|unconfirmed|unverified|undocumented|assumption)[^)]{0,200}\)|\?\?\?+/i;

/** A mark that says that a statement is not certain. */
export function markIn(text: string): string | undefined {
  return MARKS.exec(text)?.[0];
}

export function isDeprecated(text: string): boolean {
  return /\bdeprecated\b|\bobsolete\b|\bveraltet\b|no longer (?:used|supported)|do not use\b/i.test(text);
}

/** A text without marks, emphasis and line breaks, for descriptions. */
export function withoutMarks(text: string): string {
  return text
    .replaceAll(new RegExp(MARKS.source, "gi"), " ")
    .replaceAll(/\*\*/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ (?=[,;.])/g, "")
    .replaceAll(/^[,;.:\s]+|[,;:\s]+$/g, "")
    .trim();
}
