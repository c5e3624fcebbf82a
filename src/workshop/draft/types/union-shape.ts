import type { SchemaFacts } from "../../documents/api-facts.ts";
import type { ScalarShape, Shape } from "../../file/model/tool-file.ts";

/**
 * The alternatives of a schema. One that only names required members (`anyOf: [{ required: [a] }, …]`) is a rule and
 * not an alternative.
 */
export function realAlternatives(schema: SchemaFacts): { list: (() => SchemaFacts)[]; nullable: boolean } {
  const all = schema.oneOf.length > 0 ? schema.oneOf : schema.anyOf;
  let nullable = false;
  const list = all.filter((read) => {
    const option = read();
    if (isNull(option)) nullable = true;
    return !isNull(option) && !isRule(option);
  });
  return { list, nullable: nullable || list.some((read) => read().nullable) };
}

function isNull(option: SchemaFacts): boolean {
  if (option.enum?.length === 1 && option.enum[0] === null) return true;
  return option.nullable && option.types.length === 0 && isEmpty(option) && option.const === undefined && !option.enum;
}

function isRule(option: SchemaFacts): boolean {
  const isOnlyRequired = option.required.size > 0 || option.others.length > 0;
  const types = option.types.length === 0 || (option.types.length === 1 && option.types[0] === "object");
  return (
    isOnlyRequired && types && isEmpty(option) && option.name === undefined && typeof option.additional !== "function"
  );
}

function isEmpty({ properties, items, prefixItems, oneOf, anyOf, allOf }: SchemaFacts): boolean {
  return properties.size === 0 && !items && prefixItems.length + oneOf.length + anyOf.length + allOf.length === 0;
}

/** Alternatives without repetitions: enumerations of one type become one, and text without limits holds all others. */
export function joinScalars(options: readonly Shape[]): Shape[] {
  const flat = options.flatMap((option) => (option.kind === "union" && !option.discriminator ? option.of : [option]));
  if (flat.some((shape) => shape.kind === "any" && shape.only === undefined && shape.schema === undefined))
    return [{ kind: "any" }];
  const joined: Shape[] = [];
  const scalars = new Map<ScalarShape["type"], ScalarShape>();
  const seen = new Set<string>();
  for (const shape of flat) {
    const key = JSON.stringify(shape);
    if (seen.has(key)) continue;
    seen.add(key);
    if (shape.kind !== "scalar") {
      joined.push(shape);
      continue;
    }
    const same = scalars.get(shape.type);
    if (!same) {
      const own = { ...shape };
      scalars.set(shape.type, own);
      joined.push(own);
    } else {
      widen(same, shape);
    }
  }
  // Every integer is a number, and every date is text.
  return joined.filter((shape) => shape.kind !== "scalar" || !isCovered(shape, scalars));
}

function isCovered({ type }: ScalarShape, scalars: ReadonlyMap<ScalarShape["type"], ScalarShape>): boolean {
  if (type === "integer") return scalars.has("number") && Object.keys(scalars.get("number") ?? {}).length === 3;
  if (type !== "date" && type !== "datetime") return false;
  return scalars.has("string") && Object.keys(scalars.get("string") ?? {}).length === 3;
}

/** Makes a shape take the values of another one as well. */
function widen(shape: ScalarShape, other: ScalarShape): void {
  const both = shape.enum && other.enum ? [...new Set([...shape.enum, ...other.enum])] : undefined;
  const { type, whitespace } = shape;
  for (const key of Object.keys(shape)) Reflect.deleteProperty(shape, key);
  Object.assign(shape, { kind: "scalar", type, whitespace, ...(both ? { enum: both } : {}) });
}

/** The value that tells an alternative from the others. */
export function valueOf(option: SchemaFacts, property: string | undefined): string | undefined {
  const schema = property === undefined ? undefined : option.properties.get(property)?.();
  const value = schema?.const ?? (schema?.enum?.length === 1 ? schema.enum[0] : undefined);
  return typeof value === "string" ? value : undefined;
}
