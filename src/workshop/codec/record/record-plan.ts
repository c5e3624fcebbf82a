import type { ScalarShape } from "../../file/model/tool-file.ts";
import type { Deviations } from "./deviations.ts";
import type { RecordPath } from "./record-path.ts";
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
  /** All fields of the type, also those that are not on the wire. */
  names: ReadonlySet<string>;
  /** For members beside the fields. */
  additional: ValueCodec | undefined;
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
  kind: "scalar" | "presence" | "object" | "list" | "value";
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
  /** Contains a recursive type, or one with additional members. */
  nested: NestedPlan | undefined;
  /** Contains a value that is not a part of this record: a map, a union, null and so on (JSON). */
  value: ValuePlan | undefined;
  /** XML: a field that may be null, which is written as `xsi:nil`. */
  nil: FieldPlace | undefined;
  /** Known, but not read: a member that belongs to the other direction. */
  isIgnored: boolean;
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

export interface ValuePlan extends FieldPlace {
  codec: ValueCodec;
  isNullable: boolean;
}

/** Converts values of one shape. The place is that of the value. */
export interface ValueCodec {
  /** Throws ARGUMENTS_INVALID for a value that cannot be written. */
  encode(value: unknown, place: RecordPath): unknown;
  /** Undefined for a value that cannot be used; it is reported. */
  decode(value: unknown, found: Deviations, place: RecordPath): unknown;
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
