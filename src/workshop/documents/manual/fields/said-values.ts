import type { Evidence } from "../../api-facts.ts";
import { plainText } from "../outline.ts";

/** A code and what it means. */
interface SaidCode {
  value: string;
  meaning: string;
  /** Where it is not in the text about its field. */
  evidence?: Evidence;
}

/** What a text says about the values of a field. */
export interface SaidValues {
  constant?: string;
  values?: string[];
  codes?: SaidCode[];
  default?: string;
  examples?: string[];
  /** `4.2` of `see 4.2`, or the words of a title. */
  references?: string[];
  pattern?: string;
  format?: string;
}

const EXAMPLE =
  /(?:e\.\s?g\.|for example|for instance|such as|examples?\s*:?|z\.\s?b\.|beispiel\s*:?)\s*((?:`[^`]+`(?:\s*,\s*|\s+or\s+)?)+|"[^"]+"|[\w.:@+-]+)/gi;
const SEE =
  /(?:see|siehe|cf\.|refer to|defined in|listed in|vgl\.)\s+(?:also\s+)?(?:section|chapter|table|appendix|abschnitt|kapitel|tabelle|anhang|§)?\s*(\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)(?![\w])/gi;
const SEE_APPENDIX = /\b(?:[Aa]ppendix|[Aa]nnex|Anhang)\s+([A-Z])\b/g;
/** `see Damage kinds`: the words after it, which may be the title of a section. */
const SEE_TITLE =
  /\b(?:see|siehe|cf\.|refer to|defined in|listed in|vgl\.)\s+(?:also\s+)?(?:the\s+|section\s+|table\s+|list\s+|chapter\s+|of\s+)*["“'*]*(\p{L}[^.;,()"”\n]{2,60})/giu;
const DEFAULT =
  /(?:defaults? (?:is|to|value)?|default\s*[:=]|default value\s*[:=]?|standard(?:wert)?\s*[:=]|\(default\)\s*)\s*[:=]?\s*(?:`([^`]+)`|"([^"]*)"|(-?\d+(?:\.\d+)?|true|false|[\w-]+)\b)/i;
/** `7 if omitted`. */
const LEFT_OUT =
  /(?:`([^`]+)`|"([^"]*)"|(?<![\w.])(-?\d+(?:\.\d+)?|true|false))\s+(?:if|when) (?:it is )?(?:omitted|left out|not (?:given|set|sent)|missing|absent)\b/i;
const CONSTANT =
  /(?:always|must be|fixed(?: value)?|constant(?: value)?|only|immer|fest)\s*(?:set to|the value|value)?\s*[:=]?\s*`([^`]+)`(?!\s*(?:,|or|\/|\||and)\s*`)/i;
const ONE_OF =
  /(?:one of|either|allowed(?: values)?(?: are)?|possible values?(?: are)?|valid values?(?: are)?|values?|enum|can be|options|choices|erlaubt(?:e werte)?|m[öo]gliche werte|eines von)\s*:?\s*((?:[`"'][^`"']{1,60}[`"']\s*(?:\([^)]{0,80}\)\s*)?(?:,|;|or|and|\/|\||und|oder)*\s*){2,})/i;
const BARE_ONE_OF =
  /(?:one of|allowed values?|possible values?|valid values?|enum|erlaubte werte|m[öo]gliche werte)\s*:?\s*([\w-]+(?:\s*(?:,|\||\/|\bor\b|\bund\b|\boder\b)\s*[\w-]+)+)/i;
const BARE_LISTED =
  /^\s*([A-Z][A-Z\d]{0,5}(?:\s*,\s*[A-Z][A-Z\d]{0,5})*(?:\s*,)?\s+(?:or|oder)\s+[A-Z][A-Z\d]{0,5})\s*\.?\s*(?:$|;|[,(]?\s*(?:by )?default|[,(]?\s*standard)/;
const LISTED = /^\s*(?:`[^`]{1,60}`\s*(?:,|;|or|and|\/|\||und|oder)+\s*)+`[^`]{1,60}`/;

/** A list after a colon: `Units of measurement:` with three of them. */
const ANNOUNCED = /:\s*((?:`[^`]{1,60}`\s*(?:,|;|or|and|\/|\||und|oder)+\s*)+`[^`]{1,60}`)/;

/** What a description says about values: `0` German, `1` English; always `Book`; one of `a`, `b`; see 4.2; e.g. `x`. */
export function valuesIn(text: string): SaidValues {
  const examples = [...text.matchAll(EXAMPLE)].flatMap(([, list = ""]) => quotedIn(list)).slice(0, 3);
  const rest = text.replaceAll(EXAMPLE, " ");
  const references = [SEE, SEE_APPENDIX, SEE_TITLE].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, place = ""]) => place.trim()),
  );
  const usual = DEFAULT.exec(rest) ?? LEFT_OUT.exec(rest);
  const constant = CONSTANT.exec(rest)?.[1] ?? onlyValue(rest);
  const codes = codesIn(rest);
  const listed =
    codes.length > 0
      ? []
      : ((ONE_OF.exec(rest)?.[1] ?? LISTED.exec(rest)?.[0] ?? ANNOUNCED.exec(rest)?.[1] ?? "").match(
          /[`"'][^`"']+[`"']/g,
        ) ?? []);
  const bare =
    codes.length > 0 || listed.length > 0
      ? []
      : (BARE_ONE_OF.exec(rest)?.[1] ?? BARE_LISTED.exec(rest)?.[1] ?? "").split(
          /\s*(?:,|\||\/|\bor\b|\bund\b|\boder\b)\s*/,
        );
  const values = [...listed.map((value) => value.slice(1, -1).trim()), ...bare].filter((value) => value !== "");
  const bareUsual = usual?.[3];
  const isWord = bareUsual !== undefined && /^(?:is|to|value|none|null|empty|the|a|an)$/i.test(bareUsual);
  const said = usual?.[1] ?? usual?.[2] ?? (isWord ? undefined : bareUsual);
  return {
    ...(constant === undefined || codes.length > 0 ? {} : { constant }),
    ...(values.length > 1 && constant === undefined ? { values: [...new Set(values)] } : {}),
    ...(codes.length > 0 ? { codes } : {}),
    ...(said === undefined || /^(?:none|null|empty)$/i.test(said) ? {} : { default: said }),
    ...(examples.length > 0 ? { examples } : {}),
    ...(references.length > 0 ? { references } : {}),
    ...writtenAs(text),
  };
}

/** The whole rule is one value: `EUR`; no other currency is accepted. */
function onlyValue(text: string): string | undefined {
  const found = /^\s*`([^`]+)`\s*(?:$|[;,.:]\s*(?:no other|nothing else|the only))/i.exec(text);
  const value = found?.[1]?.trim();
  return value === undefined || isDateForm(value) || /^[\^/]|\s.*\s/.test(value) ? undefined : value;
}

function quotedIn(list: string): string[] {
  const quoted = list.match(/`[^`]+`|"[^"]+"/g);
  return quoted
    ? quoted.map((value) => value.slice(1, -1))
    : [list.trim().replace(/[.,;:]+$/, "")].filter((value) => value !== "");
}

const SIGN = String.raw`(?:=|–|—|:|->|→|-(?=\s)|\()`;
const QUOTED_PAIR = new RegExp(String.raw`\x60([^\x60]{1,40})\x60\s*${SIGN}?\s*([^\x60;,|/)\n]{2,80})`, "g");
const BARE_PAIR = new RegExp(
  String.raw`(?:^|[;,|/(\n]|:\s|\.\s)\s*(-?\d{1,6}|[A-Z]{1,4}\d{0,3})\s*(?:=|–|—|:|->|→|-(?=\s))\s*([^;,|\n]{2,80}?)(?=\s*(?:[;,|\n)]|$|\.(?:\s|$)|\s/\s|\s(?:-?\d{1,6}|[A-Z]{1,4}\d{0,3})\s*(?:=|–|—|:)))`,
  "g",
);

/** Pairs of a code and its meaning. At least two, unless they are only words that continue a sentence. */
function codesIn(text: string): SaidCode[] {
  const quoted = [...text.matchAll(QUOTED_PAIR)]
    .map(([, value = "", meaning = ""]) => ({ value: value.trim(), meaning: meaningOf(meaning) }))
    .filter(({ value, meaning }) => isCode(value) && isMeaning(meaning));
  if (quoted.length > 1 && startsWithCode(text)) return unique(quoted);
  const bare = [...plainText(text).matchAll(BARE_PAIR)]
    .map(([, value = "", meaning = ""]) => ({ value: value.trim(), meaning: meaningOf(meaning) }))
    .filter(({ meaning }) => isMeaning(meaning));
  return bare.length > 1 ? unique(bare) : [];
}

/** `board` of the option, `x` is another field: the list has to begin with codes of one kind. */
function startsWithCode(text: string): boolean {
  const values = [...text.matchAll(QUOTED_PAIR)].map(([, value = ""]) => value.trim());
  const numbers = values.filter((value) => /^-?\d+$/.test(value)).length;
  return numbers === values.length || /[=–—:]|->|→/.test(text.replaceAll(/`[^`]*`/g, ""));
}

function unique(codes: readonly SaidCode[]): SaidCode[] {
  return [...new Map(codes.map((code) => [code.value, code])).values()];
}

export function isCode(value: string): boolean {
  return /^[\w.+-]{1,40}$/.test(value) && !isDateForm(value);
}

function isMeaning(meaning: string): boolean {
  return /\p{L}{2}/u.test(meaning) && !/^(?:or|and|oder|und|see|if|for|is|the|to|in|of|with)\b/i.test(meaning);
}

function meaningOf(text: string): string {
  return text
    .replace(/^[\s:=–—(-]+|[\s.;,)]+$/g, "")
    .replace(/\s*(?:and|or|und|oder)$/i, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** `YYYY-MM-DD`, `dd.mm.yyyy`, `HH:MM`. */
function isDateForm(text: string): boolean {
  return /^(?=.*(?:y{2,4}|m{2}|d{2}|j{4}|h{2}|t{2}))[ymdhstjz:.,/ +-]+$/i.test(text) && /(.)\1/i.test(text);
}

function writtenAs(text: string): Pick<SaidValues, "pattern" | "format"> {
  const pattern =
    /(?:pattern|regex(?:p|\s*expression)?|regular expression|muster|match(?:es|ing)?)\s*:?\s*`?\/?(\^[^`\s]+\$)\/?`?/i.exec(
      text,
    )?.[1];
  if (pattern !== undefined) return { pattern };
  const form = /(?<![\w])((?:Y{4}|J{4})-MM-(?:DD|TT))(?:([T ]|'T')(?:HH|hh):)?/i.exec(text);
  if (form) return { format: form[2] === undefined ? "date" : form[2] === " " ? "spaced-date-time" : "date-time" };
  const other =
    /(?<![\w])((?:DD|TT)\.MM\.(?:YYYY|JJJJ)|(?:DD|MM)\/(?:DD|MM)\/YYYY|YYYYMMDD|JJJJMMTT|DDMMYYYY|HH:MM(?::SS)?|YYYYMMDDHHMMSS|YYYY-MM)(?![\w-])/i.exec(
      text,
    )?.[1];
  if (other === undefined)
    return /\biso[- ]?8601\b/i.test(text) && /\bdate\b(?![- ]?time)/i.test(text) && !/time/i.test(text)
      ? { format: "date" }
      : {};
  return {
    pattern: `^${other.replaceAll(/[.]/g, String.raw`\.`).replaceAll(/([A-Za-z])\1*/g, (run) => `[0-9]{${run.length}}`)}$`,
  };
}
