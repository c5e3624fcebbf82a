import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { requireExactNumbers } from "./exact-number.ts";
import type { SchemaShape } from "../../schema/shape.ts";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Converts a text of the command line to the type in the schema. If it fits none, it stays a text, and the check of all
 * arguments reports what was expected.
 */
function typedValue(text: string, shape: SchemaShape): unknown {
  const found = meaningOf(text, shape);
  return found ? found.value : text;
}

/** The values of a key that was given once or more: an array if the schema has one. */
export function typedValues(texts: readonly string[], shape: SchemaShape): unknown {
  const [first = "", ...others] = texts;
  const single = others.length === 0 ? meaningOf(first, shape) : undefined;
  if (single) return single.value;
  if (others.length === 0 && !shape.takesArray) return first;
  return texts.map((text, index) => typedValue(text, shape.item(index)));
}

type Meaning = { value: unknown };

function meaningOf(text: string, shape: SchemaShape): Meaning | undefined {
  const { values, types, alternatives } = shape;
  if (values) {
    const chosen = values.find((value) => value === text) ?? values.find((value) => JSON.stringify(value) === text);
    return chosen === undefined ? undefined : { value: chosen };
  }
  // If the schema allows null, "null" is probably not meant as text.
  if (text === "null" && shape.takesNull) return { value: null };
  for (const type of types) {
    const meaning = asType(text, type);
    if (meaning) return meaning;
  }
  for (const alternative of alternatives) {
    const meaning = meaningOf(text, alternative);
    if (meaning) return meaning;
  }
  // A schema without types accepts anything: text in JSON syntax is read as JSON.
  return types.length === 0 && alternatives.length === 0 ? (json(text) ?? { value: text }) : undefined;
}

function asType(text: string, type: string): Meaning | undefined {
  switch (type) {
    case "string":
      return { value: text };
    case "integer":
    case "number":
      return NUMBER.test(text) ? numberIn(text) : undefined;
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : undefined;
    case "null":
      return text === "null" ? { value: null } : undefined;
    case "array":
      return json(text, Array.isArray);
    case "object":
      return json(text, isRecord);
    default:
      return undefined;
  }
}

function numberIn(text: string): Meaning {
  requireExactNumbers(text, "--arg");
  return { value: Number(text) };
}

function json(text: string, isWanted: (value: unknown) => boolean = () => true): Meaning | undefined {
  const value = parseJson(text);
  if (value === undefined || !isWanted(value)) return undefined;
  requireExactNumbers(text, "--arg");
  return { value };
}
