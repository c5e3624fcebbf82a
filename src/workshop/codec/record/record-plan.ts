import type { ScalarShape } from "../../file/model/tool-file.ts";
import type { Scalar } from "./scalar.ts";

/**
 * How values of a type are written and read. Nodes are the upstream parts: elements in XML, members in JSON. Objects of
 * a type need not match them (two objects may share an element), so they are flattened into the plan of their record:
 * `scopes` are the record and those objects, `slots` number all their fields.
 */
export interface RecordPlan {
  root: NodePlan;
  scopes: ScopePlan[];
  slots: number;
}

/** One object: the record itself (the first) or one inside it. */
export interface ScopePlan {
  /** The scope that contains it; for the record its own. */
  parent: number;
  field: string;
  slot: number;
  /** The path from the record: `guest.address`. */
  path: string;
  /** It has no node of its own: it exists if one of its fields does. */
  implied: boolean;
  optional: boolean;
  fields: FieldPlan[];
}

export interface FieldPlan {
  name: string;
  slot: number;
  kind: "scalar" | "presence" | "object" | "list";
  optional: boolean;
  constant: string | number | boolean | undefined;
  /** False for a constant that is only shown. */
  isOnWire: boolean;
  minItems: number | undefined;
  maxItems: number | undefined;
}

export interface NodePlan {
  name: string;
  namespace: string;
  /** From the node of the record: `members/member`. */
  path: string;
  /** Its index among its siblings. */
  index: number;
  /** No sibling has the same name with another namespace or other attributes. */
  isOnlyOfName: boolean;
  /** Attributes that distinguish it from its siblings. */
  fixed: { name: string; namespace: string; value: string }[];
  attributes: AttributePlan[];
  text: LeafPlan[];
  presence: LeafPlan[];
  children: NodePlan[];
  /** By the name without its namespace; those with conditions first. */
  byName: Map<string, NodePlan[]>;
  /** Scopes that exist if this node does. */
  opens: number[];
  /** Repeated for each item of this list. */
  list: ListPlan | undefined;
  /** Contains a recursive type. */
  nested: NestedPlan | undefined;
}

interface AttributePlan {
  name: string;
  namespace: string;
  leaves: LeafPlan[];
}

/** A field of an object, with the path to the object from the record: `guest.address`. */
export interface FieldPlace {
  scope: number;
  field: string;
  slot: number;
  path: string;
}

export interface LeafPlan extends FieldPlace {
  scalar: Scalar;
  type: ScalarShape["type"];
  optional: boolean;
  /** For a constant: the value, and how it is written as text and as JSON. */
  constant: { value: string | number | boolean; text: string; json: unknown } | undefined;
}

export interface NestedPlan extends FieldPlace {
  plan: () => RecordPlan;
}

export interface ListPlan extends FieldPlace {
  keepEmpty: boolean;
  /** Whether an item is the whole record, or its one nameless field. */
  isRecord: boolean;
  plan: () => RecordPlan;
}
