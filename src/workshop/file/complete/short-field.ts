import { allAt, nodeOf, type Member, type Place } from "../../../source/source-node.ts";

/** `integer 1..15 optional at @adults [L108, L119] - Adults in this room.` */
const PARTS = /^(.*?)(?: +\[([^\]]*)\])?(?: +- +(.*))?$/s;
const RANGE = /^(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?$/;

/** Words that stand for a member. */
const WORDS: ReadonlyMap<string, readonly [key: string, value: unknown]> = new Map<
  string,
  readonly [key: string, value: unknown]
>([
  ...["optional", "hidden", "nullable", "readOnly", "writeOnly", "exact", "uniqueItems", "keepEmpty"].map(
    (key) => [key, [key, true]] as const,
  ),
  ["collapse", ["whitespace", "collapse"]],
  ["unsent", ["wire", false]],
]);

/** The limits that a range stands for. */
const LIMITS: Readonly<Record<string, readonly [string, string]>> = {
  list: ["minItems", "maxItems"],
  map: ["minEntries", "maxEntries"],
  string: ["minLength", "maxLength"],
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
};

/** What is wrong with the short form of a field, and what to do. */
export interface ShortFormProblem {
  message: string;
  hint: string;
}

const FORM = "Write: type 1..10 optional = default at wire [L12, L14] - description. All but the type may be left out.";

/** The members that a field in one line stands for. `list 1..` says only how many items there are. */
export function membersOfShortField(
  text: string,
  place: Place,
): { members: Member[]; problem?: ShortFormProblem | undefined } {
  const [, head = "", evidence, description] = PARTS.exec(text.trim()) ?? [];
  const members: Member[] = [];
  const say = (key: string, value: unknown) => members.push({ key, place, node: nodeOf(value, allAt(place)) });
  if (description !== undefined) say("description", description);
  const words = head.split(/\s+/).filter((word) => word !== "");
  const kind = words[0] === "list" || words[0] === "map" ? words[0] : "type";
  const [type] = kind === "type" ? words.splice(0, 1) : words.splice(0, words[1] === "of" ? 3 : 1).slice(2);
  if (type !== undefined) say(kind, type);
  else if (kind === "type") return { members, problem: { message: "does not say what it is", hint: FORM } };
  const problem = sayWords(words, LIMITS[kind === "type" ? (type ?? "") : kind], say);
  if (evidence !== undefined) say("evidence", evidence);
  return { members, problem: problem === undefined ? undefined : { message: problem, hint: FORM } };
}

/** Returns what is wrong with them. */
function sayWords(
  words: readonly string[],
  limits: readonly [string, string] | undefined,
  say: (key: string, value: unknown) => void,
): string | undefined {
  const said = new Set<string>();
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const [range, least, most] = RANGE.exec(word) ?? [];
    const key = range === undefined ? word : "a range";
    if (said.has(key)) return `says ${key} twice`;
    said.add(key);
    const known = WORDS.get(word);
    const next = words[index + 1];
    if (known) say(...known);
    else if (word === "at" && next !== undefined) say("wire", words[++index]);
    else if (word === "=" && next !== undefined) say("default", valueOf(words[++index] ?? ""));
    else if (range === undefined || (least === undefined && most === undefined))
      return `does not know the word "${word}"`;
    else if (!limits) return `has the range ${range}, which is for string, integer, number, list and map`;
    else {
      if (least !== undefined) say(limits[0], Number(least));
      if (most !== undefined) say(limits[1], Number(most));
    }
  }
  return undefined;
}

/** A number, true, false or an empty list; everything else is text. */
function valueOf(word: string): unknown {
  if (word === "[]") return [];
  if (word === "true" || word === "false") return word === "true";
  return /^-?\d+(?:\.\d+)?$/.test(word) ? Number(word) : word;
}
