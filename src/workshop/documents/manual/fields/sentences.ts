import type { OperationDescription } from "../describe/operation.ts";
import type { ManualBlock } from "../blocks/manual.ts";
import { plainText, type Outline } from "../outline.ts";
import { singularWords } from "../words.ts";
import { addDoubt, applyLimit, cite } from "./apply-row.ts";
import { keyOf, pathOf, type FieldNode } from "./field-node.ts";
import { limitsIn, type SaidLimit } from "./said-limits.ts";

/** The fields that a sentence may be about. */
interface SentenceFields {
  /** Those with a name, in the description that a block belongs to, or in all. */
  named(index: number, name: string): readonly FieldNode[];
  /** Those that words may mean: the fields of the block's description, or all if the block is a note about all. */
  around(index: number): readonly FieldNode[];
}

/**
 * Applies limits in sentences: about a field in backquotes, `comment` has at most 200 characters, or in words: the
 * latitude lies between -90 and 90. Returns the blocks that limited something.
 */
export function applySentences(outline: Outline, fields: SentenceFields): Set<number> {
  const used = new Set<number>();
  for (const { block, index } of outline.blocks) {
    if (block.kind !== "paragraph" && block.kind !== "item") continue;
    if (!/\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|negative)\b/i.test(block.text)) continue;
    for (const sentence of block.text.slice(0, 5_000).split(/(?<=[.!?;])\s+/))
      if (applySentence(sentence, { outline, block, index, fields })) used.add(index);
  }
  return used;
}

interface SentencePlace {
  outline: Outline;
  block: ManualBlock;
  index: number;
  fields: SentenceFields;
}

function applySentence(sentence: string, place: SentencePlace): boolean {
  const { fields, index } = place;
  let isUsed = false;
  const bare = sentence.replaceAll(/`([\w@/.-]{2,60})`\s*\(([^()]{1,200})\)/g, (whole, name: string, said: string) => {
    const nodes = fields.named(index, lastStep(name));
    const usual = usualIn(said);
    for (const node of nodes) {
      if (usual !== undefined && node.default === undefined) {
        node.default = usual;
        cite(node, place.outline.manual.evidence(place.block.place));
      }
    }
    const isLimited = limitAll(nodes, limitsIn(said), said, place);
    isUsed ||= isLimited;
    return isLimited || usual !== undefined ? " " : whole;
  });
  const names = quotedNames(bare);
  for (const clause of clausesOf(bare)) {
    const limits = limitsIn(clause);
    if (limits.length === 0) continue;
    const own = quotedNames(clause);
    const [name] = own.length > 0 ? own : names;
    if (own.length > 1 || (own.length === 0 && names.length > 1)) continue;
    const nodes = name === undefined ? byWords(clause, fields.around(index), place) : fields.named(index, name);
    const counted = name === undefined ? limits.map((limit) => ({ of: "items" as const, ...limit })) : limits;
    const lists = nodes.filter(({ list }) => list);
    const others = nodes.filter(({ list }) => !list);
    if (limitAll(lists, counted, clause, place) || limitAll(others, limits, clause, place)) isUsed = true;
    if (name === undefined && !AGED.test(clause) && limitPeople(clause, limits, fields.around(index), place))
      isUsed = true;
  }
  return isUsed;
}

/** Whether any limit fits any of the fields. A limit that was known already is only cited. */
function limitAll(
  nodes: readonly FieldNode[],
  limits: readonly SaidLimit[],
  text: string,
  { outline, block }: SentencePlace,
): boolean {
  let isUsed = false;
  for (const node of nodes) {
    for (const limit of limits) {
      if (isOfOtherUnit(text, node) || !applyLimit(node, limit, "text")) continue;
      isUsed = true;
      cite(node, outline.manual.evidence(block.place));
    }
  }
  return isUsed;
}

const OTHER_UNIT =
  /\d\s*(days?|hours?|minutes?|seconds?|ms|weeks?|months?|years?|times|calls|requests|attempts|percent|MB|kB|GB|tagen?|stunden?|minuten?|sekunden?|jahren?)\b|\d\s*%/i;

/** `30 days` limits no number of another kind; a field that names the unit, or an age in years, it does. */
function isOfOtherUnit(text: string, { name, description = "" }: FieldNode): boolean {
  const found = OTHER_UNIT.exec(text);
  if (!found) return false;
  const [unit = "%"] = singularWords(found[1] ?? "");
  const words = singularWords(`${name} ${description}`);
  return !words.includes(unit) && !(/^(?:year|jahr)/.test(unit) && words.some((word) => AGE.has(word)));
}

const AGED = /\b(?:years?(?: old)?|jahre?(?: alt)?)\b/i;
const AGE = new Set(["age", "alter"]);

function lastStep(name: string): string {
  return name.split(/[/.]/).at(-1)?.replace(/^@/, "") ?? "";
}

function quotedNames(text: string): string[] {
  return [...new Set([...text.matchAll(/`([\w@/.-]{2,60})`/g)].map(([, name = ""]) => lastStep(name)))];
}

function clausesOf(sentence: string): string[] {
  return sentence.split(
    /[,;:]\s+|\s+(?:and|but|while|und|aber)\s+(?=the\b|its\b|an?\b|die\b|der\b|das\b|`)|\s+of (?:whom|which)\s+/i,
  );
}

/** `50 if you leave it out`, `default 50`, `50 by default`. */
function usualIn(text: string): string | undefined {
  const found =
    /([\w.-]+)\s+(?:if (?:you )?(?:leave it out|(?:it is )?(?:omitted|left out|not (?:given|set|sent)|missing|absent))|by default|is the default)|\bdefaults?(?: (?:is|to|value))?\s*[:=]?\s*([\w.-]+)/i.exec(
      text,
    );
  return found?.[1] ?? found?.[2];
}

/** The fields whose name, or short description, is in the words of a clause. */
function byWords(clause: string, nodes: readonly FieldNode[], { block }: SentencePlace): FieldNode[] {
  const words = singularWords(plainText(clause));
  if (words.length > 24) return [];
  const text = ` ${words.join(" ")} `;
  const isIn = (phrase: string) => {
    const own = singularWords(phrase).join(" ");
    return own.length > 2 && text.includes(` ${own} `);
  };
  const isAge = AGED.test(clause);
  return nodes.filter((node) => {
    if (node.parent === undefined) return false;
    if (isAge) return AGE.has(singularWords(node.name).at(-1) ?? "") && isAbout(node, words);
    const { description = "" } = node;
    const isShort = description.length > 0 && description.length < 30 && singularWords(description).length < 4;
    // A list of a paragraph may be named by the first of its words: claims are `ClaimNumber`.
    const [first = ""] = singularWords(node.name);
    return (
      isIn(node.name) ||
      (isShort && isIn(description.replace(/[.]$/, ""))) ||
      (node.list && block.kind === "paragraph" && first.length > 3 && words.includes(first))
    );
  });
}

/** `Children are 1 to 17 years old` is about an age of children, or about the only age that there is. */
function isAbout(node: FieldNode, words: readonly string[]): boolean {
  const near = [...pathOf(node).map(({ name }) => name), node.description ?? ""].flatMap(singularWords);
  const people = words.filter((word) => PEOPLE.has(word));
  return people.length === 0 || people.some((word) => near.includes(word)) || !near.some((word) => PEOPLE.has(word));
}

/** Kinds of people that have ages of their own. */
const PEOPLE = new Set(["child", "adult", "infant", "baby", "senior", "student", "kind", "erwachsene"]);
const ANYBODY = /\b(?:people|persons?|guests?|occupants?|pax|travell?ers?|personen|g[äa]ste)\b/i;

/** `At most 15 people`: the counts of guests together, where each kind of guest has a count of its own. */
function limitPeople(
  clause: string,
  limits: readonly SaidLimit[],
  nodes: readonly FieldNode[],
  { outline, block }: SentencePlace,
): boolean {
  const [limit] = limits;
  const counted = nodes.filter(
    ({ name, parent }) =>
      parent?.list === true &&
      /^(?:count|number|quantity|anzahl)$/i.test(name) &&
      ANYBODY.test(singularWords(parent.name).join(" ")),
  );
  let isUsed = false;
  for (const node of counted) {
    const { parent } = node;
    const owner = parent?.parent;
    if (limit?.most === undefined || limit.of === "length" || !parent || !owner) continue;
    const evidence = outline.manual.evidence(block.place);
    const kinds = [...parent.children.values()].flatMap(({ codes }) => codes.map(({ meaning }) => meaning));
    const clauseWords = singularWords(clause);
    const kind = kinds.find((meaning) => singularWords(meaning).some((word) => clauseWords.includes(word)));
    if (ANYBODY.test(clause)) {
      if (!applyLimit(node, { most: limit.most }, "text")) continue;
      owner.rules.push({
        that: `sum({${keyOf(parent)}}, ${node.name}) <= ${limit.most}`,
        say: `at most ${limit.most} ${ANYBODY.exec(clause)?.[0] ?? "people"}`,
        evidence,
      });
      isUsed = true;
    } else if (kind !== undefined)
      addDoubt(
        node,
        `The manual says: "${plainText(clause).replace(/[.]$/, "")}". A limit of one field cannot say that; add a rule if callers should know it.`,
      );
    else continue;
    cite(node, evidence);
  }
  return isUsed;
}

const ORDERS: readonly (readonly [RegExp, string, string])[] = [
  [/\b(?:on or after|not before|no earlier than|nicht vor)\s+`@?([\w/-]+)`/i, ">=", "must not be before"],
  [/\b(?:on or before|not after|no later than|nicht nach)\s+`@?([\w/-]+)`/i, "<=", "must not be after"],
  [/\b(?:after|later than|greater than|nach)\s+`@?([\w/-]+)`/i, ">", "must be after"],
  [/\b(?:before|earlier than|less than|vor)\s+`@?([\w/-]+)`/i, "<", "must be before"],
];

/** `departure`: after `arrival`. Only for dates and numbers beside each other. */
export function applyOrder(description: OperationDescription): void {
  for (const node of description.inputNodes()) {
    const { parent, description: text = "" } = node;
    if (!parent || !isOrdered(node)) continue;
    const order = ORDERS.map(([pattern, sign, say]) => ({
      name: pattern.exec(text)?.[1]?.split("/").at(-1),
      sign,
      say,
    })).find(({ name }) => name !== undefined);
    const other = [...parent.children.values()].find(
      (each) => each.name === order?.name && each !== node && isOrdered(each),
    );
    if (!order || !other) continue;
    parent.rules.push({
      that: `{${keyOf(node)}} ${order.sign} {${keyOf(other)}}`,
      say: `${node.name} ${order.say} ${other.name}`,
      evidence: node.evidence[0] ?? "",
    });
  }
}

function isOrdered({ said, limits }: FieldNode): boolean {
  return (
    said.format === "date" ||
    said.format === "date-time" ||
    limits.format === "date" ||
    said.type === "integer" ||
    said.type === "number"
  );
}
