import type { SchemaFacts } from "../../documents/api-facts.ts";

type Kind = SchemaFacts["types"][number];

/** The types of a schema, guessed from its other members where it names none; empty: any. */
export function kindsOf(schema: SchemaFacts): Kind[] {
  const { types } = schema;
  // An integer is a number.
  if (types.length > 0) return types.filter((type) => type !== "integer" || !types.includes("number"));
  if (schema.properties.size > 0 || typeof schema.additional === "function") return ["object"];
  if (schema.items || schema.prefixItems.length > 0 || schema.minItems !== undefined) return ["array"];
  if (schema.required.size > 0 || schema.others.includes("patternProperties")) return ["object"];
  const values = schema.enum?.filter((value) => value !== null) ?? [];
  if (values.length > 0) {
    return values.every((value) => typeof value === "boolean") ? ["boolean"] : [];
  }
  if (schema.pattern !== undefined || schema.minLength !== undefined || schema.maxLength !== undefined)
    return ["string"];
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined)
    return ["number"];
  if (["date", "date-time", "uuid", "uri", "email", "binary", "byte"].includes(schema.format ?? "")) return ["string"];
  return [];
}

/** The same, for deciding about a part of a union before it is read; unions inside of it may be anything. */
export function givenTypes(schema: SchemaFacts): Kind[] {
  if (schema.allOf.length > 0 || schema.oneOf.length > 0 || schema.anyOf.length > 0) return ["object"];
  return kindsOf(schema);
}
