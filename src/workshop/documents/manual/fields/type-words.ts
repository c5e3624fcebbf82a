import { plainText } from "../outline.ts";
import type { SchemaFacts, ValueLimits } from "../../api-facts.ts";

/** What the words of a type say. */
export interface TypeSaid extends ValueLimits {
  type?: SchemaFacts["types"][number];
  list?: boolean;
  nullable?: boolean;
  /** An empty element: it has no text. */
  empty?: boolean;
  /** The name of a type that the manual describes elsewhere. */
  reference?: string;
}

const WORDS: readonly (readonly [RegExp, TypeSaid])[] = [
  [/^(?:unix|epoch|posix)[- ]?(?:time(?:stamp)?|seconds|ms)?\b|^timestamp \(unix|^seconds since/, { type: "integer" }],
  [
    /^(?:date[- ]?time|timestamp|zeitstempel|datum ?(?:und|\/|\+) ?(?:uhr)?zeit|datetime|iso[- ]?8601(?! date\b))/,
    { type: "string", format: "date-time" },
  ],
  [/^(?:date|datum|day|iso[- ]?8601 date)\b/, { type: "string", format: "date" }],
  [/^(?:time|uhrzeit|duration)\b/, { type: "string" }],
  [
    /^(?:bool(?:ean)?|flag|yes ?\/ ?no|true ?\/ ?false|logisch|ja ?\/ ?nein|wahrheitswert|switch)\b/,
    { type: "boolean" },
  ],
  [
    /^(?:u?int(?:eger)?(?:8|16|32|64)?|long|short|bigint|smallint|tinyint|unsigned(?: int(?:eger)?)?|ganzzahl|whole number|counter|positive integer|numeric id|id \(int)\b/,
    { type: "integer" },
  ],
  [
    /^(?:decimal|dec|float(?:32|64)?|double|real|number|num|numeric|money|amount|betrag|dezimal(?:zahl)?|zahl|percent(?:age)?|price|currency amount|numerisch|gleitkomma\w*|kommazahl)\b/,
    { type: "number" },
  ],
  [/^(?:uuid|guid)\b/, { type: "string", format: "uuid" }],
  [/^e-?mail\b/, { type: "string", format: "email" }],
  [/^(?:ur[il]|link|href)\b/, { type: "string", format: "uri" }],
  [/^(?:file|binary|blob|bytes|upload|datei)\b/, { type: "string", format: "binary" }],
  [/^base-?64\b/, { type: "string", format: "byte" }],
  [
    /^(?:strings?|str|text|txt|(?:n?var)?char(?:acters?)?|alphanumeric|alphanum\w*|zeichenkette|zeichen|enum(?:eration)?|token|password|identifier|id|code|key|iso[- ]?\d*|cdata|xs:string|keyword|phone|country|language|hex|passwort|auswahl|constant)\b/,
    { type: "string" },
  ],
  [/^(?:empty|leer)\b/, { type: "object", empty: true }],
  [/^(?:arrays?|lists?|collection|sequence|set|liste|feld von)\b/, { list: true }],
  [
    /^(?:object|container|struct(?:ure)?|map|dict(?:ionary)?|json|hash|complex(?: type)?|node|group|record|objekt|struktur|block|wrapper|parent|element)\b/,
    { type: "object" },
  ],
];

/** The type that a cell such as `string(20)`, `array of objects`, `text, max. 8` or `AN..35` says. */
export function typeOf(cell: string): TypeSaid {
  const text = plainText(cell)
    .replace(/^(?:xs|xsd):/i, "")
    .trim();
  const lower = text.toLowerCase();
  if (text === "") return {};
  if (/^\?\s*\w/.test(text)) return { ...typeOf(text.slice(1)), nullable: true };
  const nullable = /\bnull(?:able)?\b|\?$/.test(lower) ? { nullable: true } : {};
  const listed =
    /^(?:an? )?(?:arrays?|lists?|collection|sequence|set|liste)\s*(?:of|<|\(|\[|von|:)?\s*(.*?)[>)\]]*$/.exec(lower);
  if (listed) {
    const inner = typeOf(
      text
        .slice(text.length - (listed[1] ?? "").length - (/[>)\]]*$/.exec(text)?.[0].length ?? 0))
        .replace(/[>)\]]+$/, "")
        .trim() || "",
    );
    return { ...inner, list: true, ...nullable };
  }
  const squared = /^([\w .-]+?)\s*\[\s*\]/.exec(text);
  if (squared) return { ...typeOf(squared[1] ?? ""), list: true, ...nullable };
  const dated = /^[yj]{4}-mm-(?:dd|tt)(.?hh:mm.*)?$/.exec(lower.replaceAll("'", ""));
  if (dated) return { type: "string", format: dated[1] === undefined ? "date" : "date-time" };
  if (/^(?=.*(?:yyyy|jjjj|hh|dd\W?mm))[ymdhsjt\W]+$/.test(lower)) return { type: "string" };
  const coded = edifactType(lower);
  if (coded) return coded;
  const known = WORDS.find(([pattern]) => pattern.test(lower.replace(/^(?:an? |optional |required |mandatory )+/, "")));
  if (known) return { ...known[1], ...nullable, ...lengthIn(lower, known[1]) };
  const named = /^[A-Za-z][\w.-]*$/.exec(text.replace(/\s+(?:object|objekt|structure|type)$/i, ""));
  return named ? { reference: named[0], ...nullable } : {};
}

/** `AN..35`, `N10`, `A3`: as EDIFACT and banks write it. */
function edifactType(text: string): TypeSaid | undefined {
  const amount = /^n\s*(?:\.{2,3}|…)?\s*\d{1,2}\s*[,.]\s*(\d{1,2})$/.exec(text);
  if (amount) return { type: "number", decimals: Number(amount[1]) };
  const found = /^(an|n|a)\s*(\.{2,3}|…)?\s*(\d{1,4})$/.exec(text);
  if (!found) return undefined;
  const length = Number(found[3]);
  const isFixed = found[2] === undefined;
  // Digits of a fixed length are a number with leading zeros, such as a code.
  if (found[1] === "n" && !isFixed && length < 16) return { type: "integer", maximum: 10 ** length - 1 };
  const pattern = found[1] === "n" ? `^[0-9]{${isFixed ? length : `1,${length}`}}$` : undefined;
  return {
    type: "string",
    maxLength: length,
    ...(isFixed ? { minLength: length } : {}),
    ...(pattern === undefined ? {} : { pattern }),
  };
}

/** `varchar(64)`, `decimal(10,2)`, `char(3)`, `string [20]`. */
function lengthIn(text: string, { type, format }: TypeSaid): TypeSaid {
  const found =
    /^[\w ]+?\s*[([]\s*(?:max\.?\s*)?(\d{1,6})(?:\s*[,.]\s*(\d{1,2}))?\s*(?:chars?|characters|zeichen|stellen)?\s*[)\]]/.exec(
      text,
    );
  if (!found) return {};
  if (type === "number") return found[2] === undefined ? {} : { decimals: Number(found[2]) };
  if (type !== "string" || format !== undefined) return {};
  const length = Number(found[1]);
  return { maxLength: length, ...(text.startsWith("char(") ? { minLength: length } : {}) };
}
