import { nearestName } from "../../../text/nearest-name.ts";
import { oneOf, type Part, present } from "../../../format/part.ts";
import type { Shape, UnionShape } from "../model/tool-file.ts";

export const UNION_KEYS = ["oneOf", "discriminator"];

/** `oneOf` with its `discriminator`, of a field, a part of one, or a type. */
export function readUnion(part: Part, readInner: (item: Part) => Shape): UnionShape {
  const items = part.part("oneOf").items();
  if (part.part("oneOf").node?.kind === "list" && items.length === 0) {
    part.part("oneOf").error("names no alternative, so nothing fits");
  }
  const of = items.map(readInner);
  const seen = new Set<string>();
  of.forEach((shape, index) => {
    if (shape.kind !== "object") return;
    if (seen.has(shape.type)) items[index]?.error(`${shape.type} is named twice`);
    seen.add(shape.type);
  });
  const discriminator = part.has("discriminator")
    ? readDiscriminator(part.part("discriminator"), of, items)
    : undefined;
  return present({ kind: "union" as const, of, discriminator });
}

function readDiscriminator(
  part: Part,
  of: UnionShape["of"],
  items: readonly Part[],
): UnionShape["discriminator"] | undefined {
  part.members(["member", "values"], ["member"]);
  const types = of.flatMap((shape) => (shape.kind === "object" ? [shape.type] : []));
  of.forEach((shape, index) => {
    if (shape.kind !== "object") items[index]?.error("only types with fields have the member of the discriminator");
  });
  const member = part.part("member").text();
  if (member === undefined) return undefined;
  if (!part.has("values")) return { member, values: Object.fromEntries(types.map((type) => [type, type])) };
  const values = part
    .part("values")
    .entries()
    .map(([value, item]) => {
      const type = item.text() ?? "";
      if (type !== "" && !types.includes(type)) {
        const meant = nearestName(type, types);
        const hint = meant ? `Did you mean "${meant}"?` : types.length > 0 ? `There is ${oneOf(types)}.` : undefined;
        item.error(`"${type}" is not one of the alternatives`, hint);
      }
      return [value, type] as const;
    });
  const named = new Set(values.map(([, type]) => type));
  for (const type of types.filter((each) => part.part("values").isMap && !named.has(each))) {
    part.part("values").error(`no value means ${type}`, `Add one: { …: ${type} }`);
  }
  return { member, values: Object.fromEntries(values) };
}
