import type { OperationDescription } from "../describe/operation.ts";
import type { Outline } from "../outline.ts";
import { applyLimit, cite } from "./apply-row.ts";
import { keyOf, type FieldNode } from "./field-node.ts";
import { limitsIn } from "./said-limits.ts";

/** ValueLimits in sentences about a field in backquotes: `comment` has at most 200 characters. */
export function applyFieldSentences(outline: Outline, of: (index: number, name: string) => readonly FieldNode[]): void {
  for (const { block, index } of outline.blocks) {
    if (block.kind !== "paragraph" && block.kind !== "item") continue;
    if (!block.text.includes("`") || !/\d/.test(block.text)) continue;
    for (const sentence of block.text.slice(0, 5_000).split(/(?<=[.!?;])\s+/)) {
      const names = [
        ...new Set(
          [...sentence.matchAll(/`([\w@/.-]{2,60})`/g)].map(
            ([, name = ""]) => name.split(/[/.]/).at(-1)?.replace(/^@/, "") ?? "",
          ),
        ),
      ];
      const [name] = names;
      const limits = names.length === 1 ? limitsIn(sentence).filter(({ of: unit }) => unit !== undefined) : [];
      if (name === undefined || limits.length === 0) continue;
      for (const node of of(index, name)) {
        const before = JSON.stringify(node.limits);
        for (const limit of limits) applyLimit(node, limit, "text");
        if (JSON.stringify(node.limits) !== before) cite(node, outline.manual.evidence(block.place));
      }
    }
  }
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
