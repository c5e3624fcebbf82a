import { nearestName } from "../../../text/nearest-name.ts";
import type { Part } from "../../../format/part.ts";
import type { FieldSpec, TypeSpec } from "../model/tool-file.ts";

/** Types with the fields and rules of the types that they include. */
export interface WholeTypes {
  types: Record<string, TypeSpec>;
  /** The names of all types that others include. */
  included: ReadonlySet<string>;
  /** The type in which a field is written. */
  ownerOf(type: string, field: string): string;
}

/** Fields and rules of all types, with those that they include: types that include each other grow without bound. */
const MOST_MEMBERS = 200_000;

/**
 * Adds what types include: fields and rules of other types come first, a field of the same name replaces an included
 * one in its place.
 */
export function withIncluded(types: Readonly<Record<string, TypeSpec>>, part: Part): WholeTypes {
  const names = Object.keys(types);
  const parts = new Map(part.entries());
  const done = new Map<string, TypeSpec>();
  const owners = new Map<string, Map<string, string>>();
  const included = new Set<string>();
  let members = 0;

  const whole = (name: string, open: readonly string[]): TypeSpec | undefined => {
    const known = done.get(name);
    const own = Object.hasOwn(types, name) ? types[name] : undefined;
    if (known ?? !own) return known;
    if (!own) return undefined;
    const fields = new Map<string, FieldSpec>();
    const owner = new Map<string, string>();
    const rules = [];
    let { additional } = own;
    for (const item of parts.get(name)?.part("include").oneOrMore() ?? []) {
      const other = item.text();
      if (other === undefined) continue;
      const base = baseOf(item, other, [...open, name]);
      if (!base) continue;
      included.add(other);
      members += Object.keys(base.fields).length + base.rules.length;
      if (members > MOST_MEMBERS) {
        item.error(`the types would have more than ${MOST_MEMBERS} fields and rules with those that they include`);
        break;
      }
      for (const [field, spec] of Object.entries(base.fields)) {
        fields.set(field, spec);
        owner.set(field, owners.get(other)?.get(field) ?? other);
      }
      rules.push(...base.rules);
      additional ??= base.additional;
    }
    for (const [field, spec] of Object.entries(own.fields)) {
      fields.set(field, spec);
      owner.set(field, name);
    }
    const type: TypeSpec = {
      ...own,
      fields: Object.fromEntries(fields),
      rules: [...rules, ...own.rules],
      ...(additional === undefined ? {} : { additional }),
    };
    done.set(name, type);
    owners.set(name, owner);
    return type;
  };

  const baseOf = (item: Part, other: string, open: readonly string[]): TypeSpec | undefined => {
    if (open.includes(other)) {
      item.error(`${other} would include itself, without end`);
      return undefined;
    }
    const base = whole(other, open);
    if (!base) {
      const meant = nearestName(other, names);
      item.error(`there is no type "${other}"`, meant ? `Did you mean "${meant}"?` : "Name a type of this file.");
    } else if (base.union) {
      item.error(`${other} is one of several types and has no fields`, "Include one of them.");
      return undefined;
    }
    return base;
  };

  const all = names.map((name) => [name, whole(name, []) ?? types[name]] as const);
  return {
    types: Object.fromEntries(all.flatMap(([name, type]) => (type ? [[name, type]] : []))),
    included,
    ownerOf: (type, field) => owners.get(type)?.get(field) ?? type,
  };
}
