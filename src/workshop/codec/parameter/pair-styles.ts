import { NexusError } from "../../../errors/nexus-error.ts";
import type { FieldSpec, ParameterStyle } from "../../file/model/tool-file.ts";
import { flatName } from "../../file/model/member-names.ts";
import { unsuitable } from "./address.ts";
import { percentEncoded, type Pair } from "./form-text.ts";
import type { ParameterKind } from "../../shape/parameter-kind.ts";
import type { ParameterTree } from "./parameter-tree.ts";

/** A parameter of a query or form, before it is encoded: its texts are joined by the delimiter. */
export interface StyledPair {
  name: string;
  texts: string[];
  delimiter: "" | Delimiter;
}

type Delimiter = "," | " " | "|" | "\t";

const DELIMITERS: Partial<Record<ParameterStyle, Delimiter>> = {
  comma: ",",
  space: " ",
  pipe: "|",
  tab: "\t",
  pairs: ",",
};
/** As OpenAPI writes them: a comma stays, the others are encoded. */
const ENCODED = { "": "", ",": ",", " ": "%20", "|": "%7C", "\t": "%09" };
const WORDS = { ",": "commas", " ": "blanks", "|": "vertical bars", "\t": "tabs" };

/** Writes a value in a style. `field` is for errors. */
export function writePairs(name: string, style: ParameterStyle, tree: ParameterTree, field: string): StyledPair[] {
  if (style === "deep") return deepPairs(name, tree, field);
  if (typeof tree === "string") return [single(name, tree)];
  if (Array.isArray(tree)) {
    const texts = tree.map((item) => textOf(item, field));
    const delimiter = DELIMITERS[style];
    if (delimiter === undefined) return texts.map((text) => single(name, text));
    return texts.length === 0 ? [] : [joined(name, texts, delimiter, field)];
  }
  const members = tree.members.map(([member, value]): Pair => [member, textOf(value, field)]);
  if (style !== "pairs") return members.map(([member, text]) => single(member, text));
  return members.length === 0 ? [] : [joined(name, members.flat(), ",", field)];
}

/**
 * Refuses members that callers named like another parameter: one that carries a secret or a constant would be replaced,
 * or sent twice. Servers differ in whether `KEY` and `key[]` are also `key`. `taken`: in small letters.
 */
export function requireFreeNames(
  pairs: readonly StyledPair[],
  { name, field, taken }: { name: string; field: string; taken: ReadonlySet<string> },
): readonly StyledPair[] {
  const isTaken = (given: string) => taken.has(given) || taken.has(given.replace(/[[.].*$/s, ""));
  const clash = pairs.find((pair) => pair.name !== name && isTaken(pair.name.trim().toLowerCase()));
  if (clash) throw unsuitable(field, `must not have the member "${clash.name}": it is another parameter`);
  return pairs;
}

/** The names upstream of the other fields of a type, in small letters, of nested ones the first part. */
export function namesBeside(fields: Readonly<Record<string, FieldSpec>>, field: string): ReadonlySet<string> {
  const others = Object.entries(fields).filter(([name]) => name !== field);
  const names = others.flatMap(([, { wire }]) => (wire === false ? [] : flatName(wire)));
  return new Set(names.map((name) => name.toLowerCase()));
}

/** Percent-encoded, for an address. */
export function encodedPair({ name, texts, delimiter }: StyledPair): string {
  const [first = ""] = texts;
  const written =
    texts.length === 1
      ? percentEncoded(first, name)
      : texts.map((text) => percentEncoded(text, name)).join(ENCODED[delimiter]);
  return `${percentEncoded(name, name)}=${written}`;
}

export function plainPair({ name, texts, delimiter }: StyledPair): Pair {
  return [name, texts.join(delimiter)];
}

/** Which parameters a reader takes. `isMember`: for `members`, whether a name is one of its members. */
export interface PairReading {
  name: string;
  style: ParameterStyle;
  kind: ParameterKind;
  isMember: (name: string) => boolean;
}

/** Whether a parameter belongs to a value that is written in this style. */
export function belongsTo({ name, style, kind, isMember }: PairReading, given: string): boolean {
  if (style === "deep") return given === name || given.startsWith(`${name}[`);
  return kind === "object" && style !== "pairs" ? isMember(given) : given === name;
}

/** The value in the parameters that belong to it; undefined if there are none. */
export function readPairs({ name, style, kind }: PairReading, pairs: readonly Pair[]): ParameterTree | undefined {
  if (pairs.length === 0) return undefined;
  if (style === "deep") return deepTree(name, pairs);
  const values = pairs.map(([, value]) => value);
  const [first = ""] = values;
  const delimiter = DELIMITERS[style];
  if (kind === "object")
    return style === "pairs" ? treeOfPairs(first.split(",")) : { members: pairs.map(([...pair]) => pair) };
  if (kind === "list") return delimiter === undefined ? values : values.flatMap((value) => value.split(delimiter));
  return values.length === 1 ? first : values;
}

/** `a,1,b,2` as members; an odd text is kept as a list, which is no object. */
export function treeOfPairs(texts: readonly string[]): ParameterTree {
  if (texts.length % 2 === 1) return [...texts];
  const names = texts.filter((_, index) => index % 2 === 0);
  return { members: names.map((name, index) => [name, texts[index * 2 + 1] ?? ""]) };
}

/** Texts that can be joined by a delimiter and divided again. Readers divide after decoding, so encoding does not help. */
export function divisible(texts: readonly string[], delimiter: string, field: string): readonly string[] {
  if (texts.some((text) => text.includes(delimiter))) {
    const words = WORDS[delimiter as Delimiter] ?? JSON.stringify(delimiter);
    throw unsuitable(field, `must not contain ${words}`);
  }
  return texts;
}

export function textOf(tree: ParameterTree, field: string): string {
  if (typeof tree === "string") return tree;
  throw new NexusError(
    "CONFIG_INVALID",
    `The field "${field}" holds lists or objects inside, which its style cannot write`,
  );
}

function joined(name: string, texts: readonly string[], delimiter: Delimiter, field: string): StyledPair {
  return { name, texts: [...divisible(texts, delimiter, field)], delimiter };
}

function single(name: string, text: string): StyledPair {
  return { name, texts: [text], delimiter: "" };
}

/** Members and items in brackets: `filter[a][0]=1`. */
function deepPairs(name: string, tree: ParameterTree, field: string): StyledPair[] {
  if (typeof tree === "string") return [single(name, tree)];
  if (Array.isArray(tree)) return tree.flatMap((item, index) => deepPairs(`${name}[${index}]`, item, field));
  return tree.members.flatMap(([member, value]) => {
    if (/[[\]]/.test(member)) throw unsuitable(field, "must not have brackets in the names of its members");
    return deepPairs(`${name}[${member}]`, value, field);
  });
}

interface Branch {
  text?: string;
  members: Map<string, Branch>;
}

function deepTree(name: string, pairs: readonly Pair[]): ParameterTree {
  const root: Branch = { members: new Map() };
  for (const [given, value] of pairs) {
    let branch = root;
    for (const [, step = ""] of given.slice(name.length).matchAll(/\[([^[\]]*)\]/g)) {
      const next = branch.members.get(step) ?? { members: new Map() };
      branch.members.set(step, next);
      branch = next;
    }
    branch.text = value;
  }
  return treeOfBranch(root);
}

function treeOfBranch({ text, members }: Branch): ParameterTree {
  if (members.size === 0 && text !== undefined) return text;
  return { members: [...members].map(([name, branch]) => [name, treeOfBranch(branch)]) };
}

/** The texts of a value in a header: `blue,black`, `R,100,G,200`, or `R=100,G=200`. */
export function lineOf(style: ParameterStyle, tree: ParameterTree, field: string): string {
  if (typeof tree === "string") return tree;
  if (Array.isArray(tree))
    return divisible(
      tree.map((item) => textOf(item, field)),
      ",",
      field,
    ).join(",");
  const members = tree.members.map(([name, value]): Pair => [name, textOf(value, field)]);
  divisible(members.flat(), ",", field);
  if (style === "pairs") return members.flat().join(",");
  divisible(
    members.map(([name]) => name),
    "=",
    field,
  );
  return members.map((member) => member.join("=")).join(",");
}
