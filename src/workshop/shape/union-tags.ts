import { groupedBy } from "../../text/grouped-by.ts";
import { memberPath } from "../file/model/member-names.ts";
import type { FieldSpec, ToolFile, UnionShape } from "../file/model/tool-file.ts";
import { findType } from "./shape-parts.ts";

/** How values of one alternative are recognised: by the values of this field. */
export interface Tag {
  field: string;
  values: (string | number | boolean)[];
}

/** The tag of a type among the alternatives of a union; undefined without a discriminator. */
export function tagOf(file: Pick<ToolFile, "types">, { discriminator }: UnionShape, type: string): Tag | undefined {
  if (!discriminator) return undefined;
  const found = tagField(file, type, discriminator.member);
  if (!found) return undefined;
  const [field, spec] = found;
  const values = valuesByType(discriminator.values).get(type) ?? [];
  return { field, values: values.map((value) => typed(spec, value)) };
}

/** Made once for each discriminator: one can have thousands of values, and every alternative asks for its own. */
const BY_TYPE = new WeakMap<object, ReadonlyMap<string, readonly string[]>>();

function valuesByType(values: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  let known = BY_TYPE.get(values);
  if (!known) {
    known = new Map(
      [...groupedBy(Object.entries(values), ([, type]) => type)].map(([type, each]) => [
        type,
        each.map(([value]) => value),
      ]),
    );
    BY_TYPE.set(values, known);
  }
  return known;
}

/** The field of a type that holds the member of a discriminator. */
export function tagField(
  file: Pick<ToolFile, "types">,
  type: string,
  member: string,
): [name: string, field: FieldSpec] | undefined {
  const place = memberPath(member);
  return Object.entries(findType(file, type)?.fields ?? {}).find(([, { wire }]) => wire === place);
}

/** Names in the file are text; the field may be a number. */
function typed({ shape, const: constant }: FieldSpec, value: string): string | number | boolean {
  const type = shape.kind === "scalar" ? shape.type : "string";
  if (typeof constant === "number" || type === "integer" || type === "number") return Number(value);
  return typeof constant === "boolean" || type === "boolean" ? value === "true" : value;
}
