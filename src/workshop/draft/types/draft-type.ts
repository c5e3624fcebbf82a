import type { FieldSpec, RuleSpec, Shape, UnionShape } from "../../file/model/tool-file.ts";

/** A type of the tool file while it is being written. */
export interface DraftType {
  name: string;
  description?: string;
  evidence: string[];
  xml: { element?: string; namespace?: string };
  /** Types whose fields come first. */
  include: DraftType[];
  fields: Map<string, FieldSpec>;
  /** The wires of its fields are paths with dots, and not the names of members. */
  hasPaths?: boolean;
  additional?: Shape;
  /** Conditions between its fields. */
  rules?: RuleSpec[];
  union?: UnionShape;
}

/** All fields, those of the included types first. */
export function allFields(type: DraftType): Map<string, FieldSpec> {
  if (type.include.length === 0) return type.fields;
  return new Map([...type.include.flatMap((inner) => [...allFields(inner)]), ...type.fields]);
}

export const ANY_SHAPE: Shape = { kind: "any" };
export const TEXT_SHAPE: Shape = { kind: "scalar", type: "string", whitespace: "keep" };
