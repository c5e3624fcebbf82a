import type { Evidence, Remark } from "../../api-facts.ts";
import type { ManualBlock } from "../blocks/manual.ts";
import { addDoubt, applyLimit, cite } from "../fields/apply-row.ts";
import { keyOf, pathOf, type FieldNode } from "../fields/field-node.ts";
import { limitsIn, type SaidLimit } from "../fields/said-limits.ts";
import { plainText, type Outline } from "../outline.ts";
import { markIn, singularWords } from "../words.ts";
import { columnsOf } from "./columns.ts";

type Table = Extract<ManualBlock, { kind: "table" }>;

/** A row of a table of limits: what is limited, in words, and how. */
interface LimitRow {
  about: string;
  limits: SaidLimit[];
  mark?: string;
  text: string;
  evidence: Evidence;
}

/** The rows of a table that limits things by words: `Rooms per request | 1 to 10`. */
export function limitRows(table: Table, outline: Outline): LimitRow[] {
  const columns = columnsOf(table);
  const limit =
    columns.indexOf("limit") >= 0
      ? columns.indexOf("limit")
      : table.head.length === 2 && ["maximum", "minimum"].includes(columns[1] ?? "")
        ? 1
        : -1;
  const about = columns.findIndex((_, index) => index !== limit);
  if (limit < 0 || about < 0 || columns.includes("type")) return [];
  return table.rows.flatMap((row) => {
    const text = row[limit]?.text ?? "";
    const subject = row[about]?.text ?? "";
    if (subject.trim() === "" || text.trim() === "") return [];
    const found = limitsIn(text);
    const bare =
      found.length === 0 && /^\d+$/.test(plainText(text))
        ? [columns[limit] === "minimum" ? { least: Number(plainText(text)) } : { most: Number(plainText(text)) }]
        : [];
    const mark = markIn(text) ?? markIn(subject);
    return [
      {
        about: subject,
        limits: [...found, ...bare],
        ...(mark === undefined ? {} : { mark }),
        text: plainText(text),
        evidence: outline.manual.evidence({
          from: row[0]?.place.from ?? table.place.from,
          to: row[limit]?.place.to ?? table.place.to,
        }),
      },
    ];
  });
}

/** Applies a row to the fields whose names it has; a doubt if it is about none. */
export function applyLimitRow(row: LimitRow, nodes: readonly FieldNode[]): Remark | undefined {
  const { about, limits, mark, text, evidence } = row;
  const unknown = {
    text: `The manual limits "${plainText(about)}": ${text}. It is not clear which field that is.`,
    evidence,
  };
  if (limits.length === 0)
    return mark === undefined ? undefined : { text: `The manual says about "${plainText(about)}": ${text}.`, evidence };
  const [limit] = limits;
  const sum = /\(([^()]*\+[^()]*)\)|^([^()+]*\+[^()]*)$/.exec(plainText(about));
  if (sum && limit?.most !== undefined) {
    const terms = (sum[1] ?? sum[2] ?? "").split("+").map((term) => term.trim());
    if (applySum(terms, limit.most, { nodes, say: plainText(about), evidence })) return undefined;
  }
  const found = fieldsOf(plainText(about), nodes);
  let isUsed = false;
  for (const node of found) {
    const target = listIn(node);
    for (const each of limits) {
      if (!applyLimit(target, each, "table")) continue;
      isUsed = true;
      cite(target, evidence);
      if (mark !== undefined) addDoubt(target, `The manual marks a limit of this as ${mark}: ${text}.`);
    }
  }
  return isUsed ? undefined : unknown;
}

/** A container around a list stands for the list. */
function listIn(node: FieldNode): FieldNode {
  if (node.list) return node;
  const [only, ...others] = node.children.values();
  return only?.list && others.length === 0 ? only : node;
}

/** `Rooms per request`, `Age of a child`, `Length of comment`, `comment`. */
function fieldsOf(about: string, nodes: readonly FieldNode[]): FieldNode[] {
  const plain = about.replaceAll(/\([^)]*\)/g, " ");
  const [subject = "", owner = ""] = plain.split(
    /\s(?:per|of (?:an?|the|one|each)|of|in (?:an?|the|one|each)|for (?:an?|each)|je|pro|eines|einer|des)\s/i,
  );
  const words = singularWords(subject).filter((word) => !FILLER.has(word));
  const around = singularWords(owner).filter((word) => !FILLER.has(word));
  const matches = byWords(words, around, nodes);
  return matches.length > 0 || around.length === 0
    ? matches
    : byWords(around, [], nodes).filter(({ said }) => FILLER.has(words[0] ?? "") || said.type === "string");
}

const FILLER = new Set([
  "number",
  "maximum",
  "minimum",
  "max",
  "min",
  "count",
  "length",
  "the",
  "of",
  "a",
  "an",
  "limit",
  "size",
  "total",
  "allowed",
  "request",
  "call",
  "message",
  "value",
  "field",
  "amount",
  "anzahl",
  "länge",
]);

function byWords(words: readonly string[], around: readonly string[], nodes: readonly FieldNode[]): FieldNode[] {
  if (words.length === 0) return [];
  const key = words.join(" ");
  const same = nodes.filter((node) => singularWords(node.name).join(" ") === key);
  const inner = same.filter(
    (node) =>
      around.length === 0 ||
      pathOf(node)
        .slice(0, -1)
        .some(({ name }) => around.includes(singularWords(name).join(" "))),
  );
  const fitting = inner.length > 0 ? inner : same;
  // A container and the list inside of it have the same name in the singular.
  return fitting.filter((node) => !fitting.some((other) => other !== node && other.parent === node));
}

/** `adults + children`: at most so many together. */
function applySum(
  terms: readonly string[],
  most: number,
  { nodes, say, evidence }: { nodes: readonly FieldNode[]; say: string; evidence: Evidence },
): boolean {
  const groups = terms.map((term) => byWords(singularWords(term), [], nodes).map(listIn));
  const [first, ...others] = groups;
  const used = (first ?? []).flatMap((node) => {
    const parent = node.parent;
    const rest = others.map((group) => group.find((each) => each.parent === parent));
    return parent && rest.every((each) => each !== undefined) ? [{ parent, terms: [node, ...rest] }] : [];
  });
  for (const { parent, terms: fields } of used) {
    const parts = fields.flatMap((node) => (node ? [node.list ? `count({${keyOf(node)}})` : `{${keyOf(node)}}`] : []));
    parent.rules.push({
      that: `${parts.join(" + ")} <= ${most}`,
      say: `${say.replaceAll(/\s+/g, " ")}: at most ${most}`,
      evidence,
    });
    for (const node of fields) {
      // None of them is negative, so each one alone has the limit as well.
      if (!node || node.list) continue;
      applyLimit(node, { most }, "table");
      cite(node, evidence);
    }
  }
  return used.length > 0;
}
