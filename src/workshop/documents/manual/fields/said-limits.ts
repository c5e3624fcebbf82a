import { numberWord } from "../words.ts";

/** A limit as it is written: of what is decided by its unit, or by the type of the field. */
export interface SaidLimit {
  least?: number;
  most?: number;
  isExclusive?: boolean;
  /** `length`: characters; `items`: how many; `value` and undefined: the number itself. */
  of?: "length" | "items" | "value";
  /** `letters` or `digits` of a fixed length. */
  of2?: "letters" | "digits";
}

// Everything is bounded and begins at one place only, so that the time stays proportional to the text.
const NUMBER = String.raw`((?<!\d)-?\d{1,3}(?:[,']\d{3}){1,5}(?:\.\d{1,15})?|(?<!\d)-?\d{1,20}(?:\.\d{1,15})?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)`;
const UNIT = String.raw`(?:\s{0,9}|-)(?:\w{1,40}\s{1,9})?(characters?|chars?|letters?|digits?|bytes?|zeichen|buchstaben|stellen|ziffern|signs|symbols|items?|entries|elements?|records?|rows|values|recipients?|eintr[äa]gen?|elemente|st[üu]ck)?\b`;

const RANGES = [
  new RegExp(String.raw`(?:between|from|zwischen|von)\s+${NUMBER}\s+(?:and|to|und|bis)\s+${NUMBER}${UNIT}`, "gi"),
  new RegExp(String.raw`(?<![\w.\-/:])${NUMBER}\s*(?:to|bis|\.{2,3}|…|–|—|-)\s*${NUMBER}(?![\d:/-])${UNIT}`, "gi"),
];
const MOST = [
  new RegExp(
    String.raw`(?:at most|(?:cannot|can't|can ?not|(?:must|may|should) ?not|never)(?: be)? (?:greater|more|larger|higher|longer) than|max(?:imum|imal)?\.?(?: (?:of|is|length|len|size|value|number))*|up to|no more than|not more than|(?:must|may|can|should)(?: not|not) exceed|not exceeding|cannot exceed|does not exceed|not longer than|limited to|h[öo]chstens|bis zu|nicht mehr als|≤|<=|less than or equal to)\s*[:=]?\s*${NUMBER}${UNIT}`,
    "gi",
  ),
  new RegExp(String.raw`${NUMBER}${UNIT}\s+(?:max(?:imum|\.)?|or (?:less|fewer|shorter)|at most)\b`, "gi"),
];
const LEAST = [
  new RegExp(
    String.raw`(?:at least|(?:cannot|can't|can ?not|(?:must|may|should) ?not|never)(?: be)? (?:less|smaller|lower|fewer|shorter) than|min(?:imum|destens|imal)?\.?(?: (?:of|is|length|len|value|number))*|no(?:t)? (?:less|fewer) than|mindestens|≥|>=|greater than or equal to)\s*[:=]?\s*${NUMBER}${UNIT}`,
    "gi",
  ),
  new RegExp(String.raw`${NUMBER}${UNIT}\s+(?:or (?:more|longer|greater)|min(?:imum)?\.?)\b`, "gi"),
  new RegExp(
    String.raw`(?:\b(?:starting (?:at|from|with)|starts (?:at|with)|counted from|beginning (?:at|with)|beginnend (?:bei|mit)|ab)\s+)${NUMBER}(?![\d:/-]|\.\d)()`,
    "gi",
  ),
];
const NOT_NEGATIVE = /\bnot (?:be )?negative\b|\bnon-?negative\b|\bnicht negativ\b/gi;
const ABOVE = new RegExp(String.raw`(?:greater than|more than|larger than|above|over|>)\s*${NUMBER}`, "gi");
const BELOW = new RegExp(String.raw`(?:less than|smaller than|below|<)\s*${NUMBER}`, "gi");
const EXACT = new RegExp(
  String.raw`(?:(?:exactly|always|fixed|must be|length(?: of)?|genau)\s*:?\s*)?${NUMBER}(?:\s{0,9}|-)(?:(?:capital|upper-?case|lower-?case|latin|alphanumeric|decimal|numeric|hex\w*)\s+)?(characters?|chars?|letters?|digits?|bytes?|zeichen|buchstaben|stellen|ziffern|stellig\w*)\b`,
  "gi",
);

/** The limits that a text states, in its order. Examples and code are not limits. */
export function limitsIn(text: string): SaidLimit[] {
  const found: SaidLimit[] = [];
  let rest = withoutExamples(text);
  const take = (pattern: RegExp, read: (match: RegExpExecArray) => SaidLimit | undefined) => {
    rest = rest.replaceAll(pattern, (...match) => {
      const limit = read(match as unknown as RegExpExecArray);
      if (limit) found.push(limit);
      return limit ? " " : match[0];
    });
  };
  for (const pattern of RANGES) {
    take(pattern, (match) => {
      const least = numberWord(match[1] ?? "");
      const most = numberWord(match[2] ?? "");
      if (least === undefined || most === undefined || least > most || isYear(least)) return undefined;
      return { least, most, ...unitOf(match[3]) };
    });
  }
  for (const pattern of MOST) take(pattern, (match) => one("most", match));
  for (const pattern of LEAST) take(pattern, (match) => one("least", match));
  take(NOT_NEGATIVE, () => ({ least: 0, of: "value" }));
  take(ABOVE, (match) => exclusive("least", match));
  take(BELOW, (match) => exclusive("most", match));
  take(EXACT, (match) => {
    const length = numberWord(match[1] ?? "");
    if (length === undefined || !Number.isInteger(length) || length > 10_000) return undefined;
    const unit = (match[2] ?? "").toLowerCase();
    return {
      least: length,
      most: length,
      of: "length",
      ...(/^(?:letter|buchst)/.test(unit)
        ? { of2: "letters" as const }
        : /^(?:digit|ziffer)/.test(unit)
          ? { of2: "digits" as const }
          : {}),
    };
  });
  return found;
}

function one(which: "least" | "most", match: RegExpExecArray): SaidLimit | undefined {
  const value = numberWord(match[1] ?? "");
  if (value === undefined) return undefined;
  const isLength = /\b(?:length|len)\b/i.test(match[0]);
  return { [which]: value, ...(isLength ? { of: "length" as const } : unitOf(match[2])) };
}

function exclusive(which: "least" | "most", match: RegExpExecArray): SaidLimit | undefined {
  const value = numberWord(match[1] ?? "");
  return value === undefined ? undefined : { [which]: value, isExclusive: true, of: "value" };
}

function unitOf(unit: string | undefined): Pick<SaidLimit, "of"> {
  if (unit === undefined || unit === "") return {};
  return /^(?:char|letter|digit|byte|zeichen|buchst|stelle|ziffer|sign|symbol)/i.test(unit)
    ? { of: "length" }
    : { of: "items" };
}

function isYear(value: number): boolean {
  return value >= 1900 && value <= 2100;
}

const DECIMALS = new RegExp(
  String.raw`(?:(?:up to|at most|max(?:imum|\.)?|with|of)\s+)?${NUMBER}\s+(?:decimals?\b|decimal (?:places?|digits?)|(?:digits|places) after)`,
  "gi",
);
/** What happens beyond a number: `if limit > 5000, only 5000 are returned`. */
const CONDITION = new RegExp(
  String.raw`\b(?:if|when|whenever|once)\s[^.;,]{0,60}?(?:[<>≤≥]=?|(?:greater|more|larger|higher|less|fewer|smaller|lower) than|above|below|over|exceeds?)\s*${NUMBER}`,
  "gi",
);

/** `e.g. 12 to 14` is not a limit, nor are a date in backquotes, a number of decimals, or a condition. */
function withoutExamples(text: string): string {
  return text
    .replaceAll(
      /(?:e\.\s?g\.|for example|for instance|such as|example:?|z\.\s?b\.|beispiel:?)[^;.]*(?:\.\d[^;.]*)*/gi,
      " ",
    )
    .replaceAll(/`([^`]*)`/g, (_, code: string) => (/^-?\d+(?:\.\d+)?$/.test(code.trim()) ? code : " "))
    .replaceAll(/\b\d{4}-\d{2}-\d{2}\b/g, " ")
    .replaceAll(DECIMALS, " ")
    .replaceAll(CONDITION, " ");
}
