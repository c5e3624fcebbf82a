import { memberPath } from "../model/member-names.ts";
import type { FieldSpec, Shape, TypeSpec } from "../model/tool-file.ts";
import { shapesOf } from "../../shape/shape-parts.ts";

/**
 * Types that a discriminator tells apart need a field for its member. Where the documents declare none, it is added, so
 * that callers can say and see which type a value has.
 */
export function withDiscriminatorFields(types: Readonly<Record<string, TypeSpec>>): Record<string, TypeSpec> {
  const missing = new Map<string, Set<string>>();
  const visit = (shape: Shape): void => {
    if (shape.kind === "list" || shape.kind === "map") visit(shape.of);
    if (shape.kind !== "union") return;
    shape.of.forEach(visit);
    if (!shape.discriminator) return;
    const { member, values } = shape.discriminator;
    const place = memberPath(member);
    for (const name of new Set(Object.values(values))) {
      const type = Object.hasOwn(types, name) ? types[name] : undefined;
      if (!type || type.union || Object.values(type.fields).some(({ wire }) => wire === place)) continue;
      missing.set(name, (missing.get(name) ?? new Set()).add(member));
    }
  };
  for (const type of Object.values(types)) shapesOf(type).forEach(visit);
  if (missing.size === 0) return { ...types };
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, withFields(type, [...(missing.get(name) ?? [])])]),
  );
}

function withFields(type: TypeSpec, members: readonly string[]): TypeSpec {
  if (members.length === 0) return type;
  const fields = new Map<string, FieldSpec>();
  for (const member of members) {
    fields.set(freeName(member, type), {
      wire: memberPath(member),
      shape: { kind: "scalar", type: "string", whitespace: "keep" },
      optional: true,
      hidden: false,
      evidence: [],
    });
  }
  return { ...type, fields: { ...Object.fromEntries(fields), ...type.fields } };
}

/** A name for expressions: letters, digits and _. */
function freeName(member: string, { fields }: TypeSpec): string {
  const plain = member.replaceAll(/[^A-Za-z0-9_]+/g, "_").replace(/^[^A-Za-z]+/, "");
  let name = plain === "" ? "kind" : plain;
  while (Object.hasOwn(fields, name)) name += "_";
  return name;
}
