import type { ScalarShape } from "../../file/model/tool-file.ts";
import type { Scalar } from "./scalar.ts";

/**
 * How values of a type are written and read, worked out once. Nodes are what stands upstream: elements in XML, members in
 * JSON. Objects of a type need not follow them (two objects may share an element), so they are flattened into the plan
 * of the record around them: `scopes` are the record and those objects, `slots` number all their fields.
 */
export interface RecordPlan {
  root: NodePlan;
  scopes: ScopePlan[];
  slots: number;
}

/** One object: the record (the first) or one inside it. */
export interface ScopePlan {
  /** The scope that holds it; its own for the record. */
  parent: number;
  field: string;
  slot: number;
  /** The way from the record: `guest.address`. */
  path: string;
  /** It has no node of its own: it is there when one of its fields is. */
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
  /** False: only a constant that is shown. */
  isOnWire: boolean;
  minItems: number | undefined;
  maxItems: number | undefined;
}

export interface NodePlan {
  name: string;
  namespace: string;
  /** From the node of the record: `members/member`. */
  path: string;
  /** Its number among its siblings. */
  index: number;
  /** No sibling has the same name in another namespace or with other attributes. */
  isOnlyOfName: boolean;
  /** Attributes by which it is told from its siblings. */
  fixed: { name: string; namespace: string; value: string }[];
  attributes: AttributePlan[];
  text: LeafPlan[];
  presence: LeafPlan[];
  children: NodePlan[];
  /** By the name without its namespace; those with conditions first. */
  byName: Map<string, NodePlan[]>;
  /** Scopes that are there when this node is. */
  opens: number[];
  /** It stands once for each item. */
  list: ListPlan | undefined;
  /** It holds a type that holds itself. */
  nested: NestedPlan | undefined;
}

interface AttributePlan {
  name: string;
  namespace: string;
  leaves: LeafPlan[];
}

/** Which field of which object, and the way to it from the record: `guest.address`. */
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
  /** Of a constant: the value, and what is written for it as text and as JSON. */
  constant: { value: string | number | boolean; text: string; json: unknown } | undefined;
}

export interface NestedPlan extends FieldPlace {
  plan: () => RecordPlan;
}

export interface ListPlan extends FieldPlace {
  keepEmpty: boolean;
  /** An item is the whole record, or the one nameless field of it. */
  isRecord: boolean;
  plan: () => RecordPlan;
}
