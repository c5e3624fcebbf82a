import { memberPath } from "../model/member-names.ts";
import type { FieldSpec, Shape, TypeSpec } from "../model/tool-file.ts";
import { shapesOf } from "../../shape/shape-parts.ts";
import { tagField } from "../../shape/union-tags.ts";

/**
 * Types that a discriminator tells apart need a field for its member. Where the documents declare none, it is added, so
 * that callers can say and see which type a value has.
 */
export function withDiscriminatorFields(types: Readonly<Record<string, TypeSpec>>): Record<string, TypeSpec> {
  const missing = new Map<string, Set<string>>();
  for (const { type: name, member } of taggedTypes(types)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (!type || type.union || tagField({ types }, name, member)) continue;
    missing.set(name, (missing.get(name) ?? new Set()).add(member));
  }
  if (missing.size === 0) return { ...types };
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, withFields(type, [...(missing.get(name) ?? [])])]),
  );
}

/** The fields that tell types apart, as `type.field`. */
export function discriminatorFields(types: Readonly<Record<string, TypeSpec>>): Set<string> {
  return new Set(
    taggedTypes(types).flatMap(({ type, member }) => {
      const found = tagField({ types }, type, member);
      return found ? [`${type}.${found[0]}`] : [];
    }),
  );
}

/** The types that discriminators name, with the member. */
function taggedTypes(types: Readonly<Record<string, TypeSpec>>): { type: string; member: string }[] {
  const found: { type: string; member: string }[] = [];
  const visit = (shape: Shape): void => {
    if (shape.kind === "list" || shape.kind === "map") visit(shape.of);
    if (shape.kind !== "union") return;
    shape.of.forEach(visit);
    const { member = "", values = {} } = shape.discriminator ?? {};
    for (const type of new Set(Object.values(values))) found.push({ type, member });
  };
  for (const type of Object.values(types)) shapesOf(type).forEach(visit);
  return found;
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
