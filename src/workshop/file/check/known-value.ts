import { findType } from "../../shape/shape-parts.ts";
import type { FieldSpec, Shape, ToolFile, UnionShape } from "../model/tool-file.ts";

/** What the file says about a value, for finding unknown names in expressions. */
export type KnownValue =
  | { kind: "anything" }
  /** `names`: all possible values. */
  | { kind: "single"; names?: readonly string[] }
  | { kind: "list"; of: KnownValue }
  | { kind: "object"; members: ReadonlyMap<string, () => KnownValue> };

export const ANYTHING: KnownValue = { kind: "anything" };
export const SINGLE: KnownValue = { kind: "single" };

/** Members are resolved on demand, because types may be recursive. `hidden`: whether hidden fields are seen. */
export function knownType(file: ToolFile, name: string | undefined, { hidden = true } = {}): KnownValue {
  const type = name !== undefined && Object.hasOwn(file.types, name) ? file.types[name] : undefined;
  // Further members have any names.
  if (!type || type.additional) return ANYTHING;
  if (type.union) return knownShape(file, type.union, hidden);
  const fields = Object.entries(type.fields).filter(([, field]) => hidden || !field.hidden);
  return {
    kind: "object",
    members: new Map(fields.map(([key, field]) => [key, () => knownField(file, field, hidden)])),
  };
}

/** The settings of a file, as `settings`. */
export function knownSettings({ settings = {} }: ToolFile): KnownValue {
  const names = Object.keys(settings);
  const known = withMembers(Object.fromEntries(names.map((name) => [name, SINGLE])));
  return withMembers(names.length === 0 ? {} : { settings: known });
}

function knownField(file: ToolFile, field: FieldSpec, hidden: boolean): KnownValue {
  if (typeof field.const === "string") return { kind: "single", names: [field.const] };
  return knownShape(file, field.shape, hidden);
}

/** The members of several together. */
export function joined(...values: readonly KnownValue[]): KnownValue {
  const objects = values.filter((value) => value.kind === "object");
  if (objects.length < values.length) return ANYTHING;
  return { kind: "object", members: new Map(objects.flatMap(({ members }) => [...members])) };
}

export function withMembers(members: Readonly<Record<string, KnownValue>>): KnownValue {
  return { kind: "object", members: new Map(Object.entries(members).map(([key, value]) => [key, () => value])) };
}

/** The members of all alternatives, if all of them are types with fields. */
function knownUnion(file: ToolFile, { of }: UnionShape, hidden: boolean): KnownValue {
  const types = of.map((shape) => (shape.kind === "object" ? findType(file, shape.type) : undefined));
  if (types.some((type) => !type || type.union || type.additional)) return ANYTHING;
  return joined(...of.map((shape) => knownShape(file, shape, hidden)));
}

function knownShape(file: ToolFile, shape: Shape, hidden: boolean): KnownValue {
  if (shape.kind === "object") return knownType(file, shape.type, { hidden });
  if (shape.kind === "list") return { kind: "list", of: knownShape(file, shape.of, hidden) };
  if (shape.kind === "union") return knownUnion(file, shape, hidden);
  if (shape.kind !== "scalar") return ANYTHING;
  const names = shape.codes ? Object.values(shape.codes) : shape.enum?.filter((value) => typeof value === "string");
  return names ? { kind: "single", names } : SINGLE;
}
