import { isRecord } from "../json/is-record.ts";
import { referenced } from "./pointer.ts";

/** A JSON Schema, or a part of one, as a server wrote it. */
export type Schema = Readonly<Record<string, unknown>>;

/** Limits the parts that are read: hostile schemas refer to themselves in many ways. */
export interface PartsBudget {
  left: number;
}

const MAX_REFERENCES = 32;
const MAX_DEPTH = 6;

/** The target of a reference, merged with the keywords beside it, which win; other schemas unchanged. */
export function resolvedSchema(schema: unknown, root: unknown): unknown {
  let result = schema;
  for (let step = 0; step < MAX_REFERENCES; step++) {
    if (!isRecord(result) || typeof result["$ref"] !== "string") return result;
    const { $ref, ...own } = result;
    const target = referenced($ref, root);
    if (!isRecord(target)) return result;
    result = { ...target, ...own };
  }
  return result;
}

/** The schema and the parts of its `allOf`, at any depth, with references resolved. A value has to match all of them. */
export function schemaParts(schema: unknown, root: unknown, budget: PartsBudget): Schema[] {
  return partsAt(schema, { root, budget, depth: 0 });
}

function partsAt(schema: unknown, at: { root: unknown; budget: PartsBudget; depth: number }): Schema[] {
  const { root, budget, depth } = at;
  const part = resolvedSchema(schema, root);
  if (!isRecord(part) || depth > MAX_DEPTH || budget.left-- <= 0) return [];
  const inner = Array.isArray(part["allOf"]) ? (part["allOf"] as unknown[]) : [];
  return [part, ...inner.flatMap((each) => partsAt(each, { root, budget, depth: depth + 1 }))];
}
