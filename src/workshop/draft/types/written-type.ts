import { writeForm } from "../../../format/write-form.ts";
import { impliedType } from "../../file/forms/shapes.ts";
import { TYPE } from "../../file/forms/types.ts";
import { memberPath } from "../../file/model/member-names.ts";
import type { FieldSpec } from "../../file/model/tool-file.ts";
import type { DraftType } from "./draft-type.ts";

/** A type as the tool file has it, without what reading adds. */
export function writtenType(type: DraftType): unknown {
  const { include, fields, rules = [], ...rest } = type;
  return writeForm(TYPE, {
    ...rest,
    include: include.length === 0 ? undefined : include.map(({ name }) => name),
    fields: Object.fromEntries([...fields].map(([name, field]) => [name, ownField(name, field, type)])),
    rules,
  });
}

/** A constant is its own shape, and a field with a default need not be given. */
function ownField(name: string, field: FieldSpec, { evidence, ...type }: DraftType): FieldSpec {
  const { shape, const: constant, optional, default: usual } = field;
  const isPresence = shape.kind === "scalar" && shape.type === "presence";
  const isOwnShape = constant !== undefined && !isPresence;
  return {
    ...field,
    wire: writtenWire(name, field, type),
    shape: isOwnShape ? { kind: "scalar", type: impliedType(constant), whitespace: "keep" } : shape,
    optional: optional && usual === undefined,
    evidence: field.evidence.filter(
      (place) => !evidence.some((whole) => place === whole || place.startsWith(`${whole}/`)),
    ),
  };
}

/** The name of the field where it is not written. */
function writtenWire(
  name: string,
  { wire, shape, value }: FieldSpec,
  { xml, hasPaths = false }: Pick<DraftType, "xml" | "hasPaths">,
): string | false {
  const isXml = xml.element !== undefined || xml.namespace !== undefined;
  if (wire === false) return value === undefined ? false : name;
  if (wire === "." || wire === name) return wire;
  if (isXml && shape.kind === "list" && wire === `${name}[]`) return name;
  return isXml || hasPaths ? wire : memberPath(wire);
}
