import { memberPath } from "../../file/model/member-names.ts";
import type { FieldSpec, ScalarShape, Shape } from "../../file/model/tool-file.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import type { DraftType } from "./draft-type.ts";

/** A type as the tool file has it. Defaults are left out, also evidence that the type already gives. */
export function typeYaml(type: DraftType): YamlMap {
  const { description, evidence, xml, include, fields, additional, union, rules = [] } = type;
  return {
    description,
    ...(Object.keys(xml).length === 0 ? {} : { xml }),
    ...(include.length === 0 ? {} : { include: include.map(({ name }) => name) }),
    evidence: evidenceYaml(evidence),
    ...(union ? shapeYaml(union) : {}),
    ...(union || (fields.size === 0 && include.length > 0) ? {} : { fields: fieldsYaml(type) }),
    ...(additional === undefined ? {} : { additional: innerYaml(additional) }),
    ...(rules.length === 0 ? {} : { rules: rules.map((rule) => ({ ...rule, evidence: evidenceYaml(rule.evidence) })) }),
  };
}

function fieldsYaml({ fields, evidence, xml, hasPaths = false }: DraftType): YamlMap {
  const isXml = xml.element !== undefined || xml.namespace !== undefined;
  const type = { evidence, isXml, isWritten: isXml || hasPaths };
  return Object.fromEntries([...fields].map(([name, field]) => [name, fieldYaml(name, field, type)]));
}

interface TypeOfField {
  evidence: readonly string[];
  isXml: boolean;
  /** Its wires are as they have to be written. */
  isWritten: boolean;
}

function fieldYaml(name: string, field: FieldSpec, type: TypeOfField): YamlMap {
  const { description, shape, nullable, side, optional, default: usual, evidence } = field;
  const own = evidence.filter(
    (place) => !type.evidence.some((whole) => place === whole || place.startsWith(`${whole}/`)),
  );
  return {
    description,
    wire: wireYaml(name, field, type),
    ...(field.const === undefined || isPresence(shape) ? shapeYaml(shape) : {}),
    const: field.const,
    value: field.value,
    nullable,
    ...(side === undefined ? {} : { [side === "output" ? "readOnly" : "writeOnly"]: true }),
    ...(optional && usual === undefined ? { optional } : {}),
    ...(field.hidden ? { hidden: true } : {}),
    default: usual,
    ...(own.length === 0 ? {} : { evidence: evidenceYaml(own) }),
  };
}

function isPresence(shape: Shape): boolean {
  return shape.kind === "scalar" && shape.type === "presence";
}

function wireYaml(name: string, { wire, shape, value }: FieldSpec, type: TypeOfField): string | false | undefined {
  if (wire === false && value !== undefined) return undefined;
  if (wire === false || wire === ".") return wire;
  if (type.isXml && shape.kind === "list" && wire === `${name}[]`) return undefined;
  if (type.isWritten) return wire === name ? undefined : wire;
  return wire === name ? undefined : memberPath(wire);
}

/** The members of a field that say its form. */
function shapeYaml(shape: Shape): YamlMap {
  switch (shape.kind) {
    case "scalar":
      return scalarYaml(shape);
    case "object":
      return { type: shape.type };
    case "list": {
      const { minItems, maxItems, uniqueItems, keepEmpty } = shape;
      return { list: innerYaml(shape.of), minItems, maxItems, uniqueItems, ...(keepEmpty ? { keepEmpty } : {}) };
    }
    case "map":
      return { map: innerYaml(shape.of), minEntries: shape.minEntries, maxEntries: shape.maxEntries };
    case "union":
      return { oneOf: shape.of.map(innerYaml), discriminator: shape.discriminator };
    case "any":
      return { type: shape.only ?? "any", schema: shape.schema };
  }
}

function scalarYaml({ kind: _kind, whitespace, type, ...limits }: ScalarShape): YamlMap {
  const isImplied = (limits.enum !== undefined || limits.codes !== undefined) && type !== "number";
  return { ...(isImplied ? {} : { type }), ...limits, ...(whitespace === "collapse" ? { whitespace } : {}) };
}

/** A shape inside of another: a name, if there is nothing more to say. */
function innerYaml(shape: Shape): unknown {
  const map = shapeYaml(shape);
  const given = Object.entries(map).filter(([, value]) => value !== undefined);
  return given.length === 1 && given[0]?.[0] === "type" ? given[0][1] : map;
}

export function evidenceYaml(evidence: readonly string[]): string | readonly string[] | undefined {
  return evidence.length > 1 ? evidence : evidence[0];
}
