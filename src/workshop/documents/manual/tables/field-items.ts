import type { Evidence } from "../../api-facts.ts";
import { limitsIn } from "../fields/said-limits.ts";
import { valuesIn } from "../fields/said-values.ts";
import { typeOf, type TypeSaid } from "../fields/type-words.ts";
import { isDeprecated, markIn, withoutMarks } from "../words.ts";
import { namesIn, placeOf, type FieldRow } from "./field-rows.ts";

/** `name` (string, required): text; `name` – string – text; name: text. */
const ITEM =
  /^\s*(`[^`]+`(?:\s*,\s*`[^`]+`)*|@?[A-Za-z_$][\w$.:/@[\]-]*(?=\s*[(:–—]|\s+-\s))\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\[([^\]]*)\])?\s*(?:[:–—]|-(?=\s))?\s*([\s\S]*)$/;

/**
 * An item of a list as a field; undefined if it is not one. `isExpected`: the list is known to be one of fields, so that
 * a name and a text are enough.
 */
export function fieldItem(
  item: string,
  isExpected: boolean,
  place: { evidence: Evidence; line: number; level: number },
): FieldRow | undefined {
  const text = withBracket(item.slice(0, 4_000));
  const found = ITEM.exec(text);
  if (!found) return undefined;
  const [, name = "", round = "", square = "", said = ""] = found;
  const bracket = round === "" ? square : round;
  const parts = bracket.split(/[,;]\s*/);
  const types = parts.map((part) => typeOf(part));
  const typed = types.find(isTyped) ?? leadingType(said);
  const isSaid = typed !== undefined || /\b(?:required|optional|mandatory|pflicht)\b/i.test(bracket);
  if (!isSaid && !(isExpected && (name.startsWith("`") || said !== ""))) return undefined;
  const names = namesIn(name);
  if (names.paths.length === 0) return undefined;
  const marks = markIn(text);
  const where = parts
    .map((part) =>
      /^(?:in )?(?:path|query|header|body|cookie)/i.test(part) ? placeOf(part.replace(/^in /i, "")) : undefined,
    )
    .find((each) => each !== undefined);
  const description = withoutMarks(said);
  return {
    ...names,
    level: place.level - 1,
    ...(where === undefined ? {} : { place: where }),
    said: typed ?? {},
    occurs: requiredIn(bracket, said),
    ...(description === "" ? {} : { description }),
    typeLimits: limitsIn(bracket.replaceAll(/\w+\(\d+(?:,\d+)?\)/g, " ")),
    limits: limitsIn(said),
    values: { ...valuesIn(bracket), ...valuesIn(said) },
    deprecated: isDeprecated(text),
    doubts: marks === undefined ? [] : [`The manual marks this as ${marks}.`],
    evidence: place.evidence,
    line: place.line,
  };
}

const NAMED = String.raw`(\x60[^\x60]+\x60|[a-z_$][\w$.[\]-]*)`;
const TYPE_WORD = String.raw`(?:(?:array|list) of )?(?:strings?|str|u?int(?:eger)?s?(?:32|64)?|long|numbers?|num(?:eric)?|float|double|decimal|bool(?:ean)?s?|objects?|arrays?|lists?|date(?:-?time)?|timestamp|uuid|enum|e-?mail|url|map|hash|file)(?:\([\w., ]*\)|<\w+>|\[\])?`;
const FLAGS = String.raw`(?:required|optional|mandatory|nullable|conditional|recommended)`;
/** A name, its type and whether it is required, as words beside each other. */
const BESIDE = new RegExp(
  String.raw`^\s*${NAMED}[\s·|,:–—]+(?:(${TYPE_WORD})(?:[\s·|,]+(${FLAGS}))?|(${FLAGS})(?:[\s·|,]+(${TYPE_WORD}))?)\s*(?:$|[:.–—\n]|-\s)\s*`,
  "i",
);

/** `amount integer Required` and a text as `amount (integer, Required): text`. */
function withBracket(text: string): string {
  const found = BESIDE.exec(text);
  if (!found) return text;
  const [whole, name = "", ...words] = found;
  return `${name} (${words.filter((word) => word !== undefined).join(", ")}): ${text.slice(whole.length)}`;
}

function isTyped({ type, list }: TypeSaid): boolean {
  return type !== undefined || list === true;
}

/** `string – the name`, `integer. The number`. */
function leadingType(text: string): TypeSaid | undefined {
  const word = /^([\w-]+(?:\(\d+\)|\[\])?)(?:\s*[,.;:–—]|\s+-\s)/.exec(text)?.[1];
  const said = word === undefined ? undefined : typeOf(word);
  return said && isTyped(said) ? said : undefined;
}

function requiredIn(bracket: string, text: string): FieldRow["occurs"] {
  if (/\b(?:optional|not required)\b/i.test(bracket)) return { required: false };
  if (/\b(?:required|mandatory|pflicht\w*|erforderlich)\b/i.test(bracket)) return { required: true };
  const start = text.slice(0, 80);
  if (/^(?:optional|not required)\b/i.test(start) || /\boptional\b/i.test(text.slice(0, 300)))
    return { required: false };
  return /^(?:required|mandatory|pflicht)\b|\b(?:is|are) (?:required|mandatory)\b/i.test(start)
    ? { required: true }
    : {};
}
