import { isRecord } from "../../protocol/json-rpc.ts";

type Property = Record<string, unknown>;

/**
 * The schema of a form for a caller of 2025-06-18, which has choices by `enum` and `enumNames` and defaults for
 * yes-or-no fields alone. Undefined where it asks for several of many, which that revision cannot say.
 */
export function olderForm(schema: unknown): unknown {
  if (!isRecord(schema) || !isRecord(schema["properties"])) return schema;
  const properties = Object.entries(schema["properties"]);
  if (properties.some(([, property]) => isRecord(property) && property["type"] === "array")) return undefined;
  const older = properties.map(([name, property]) => [name, isRecord(property) ? olderProperty(property) : property]);
  return { ...schema, properties: Object.fromEntries(older) };
}

function olderProperty(property: Property): Property {
  const { oneOf, default: preset, ...others } = property;
  const older: Property = others;
  if (property["type"] === "boolean" && preset !== undefined) older["default"] = preset;
  if (!Array.isArray(oneOf)) return older;
  const choices = (oneOf as unknown[]).filter(isRecord);
  older["enum"] = choices.map((choice) => choice["const"]);
  older["enumNames"] = choices.map((choice) => choice["title"] ?? choice["const"]);
  return older;
}
