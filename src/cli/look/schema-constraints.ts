import { isRecord } from "../../json/is-record.ts";
import { cut } from "../output/text-width.ts";

const LONGEST_VALUE = 60;

/** The constraints of a schema besides its type: `at least 1`, `default 10`. */
export function constraintsOf(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, pattern, format, examples } = schema;
  const words: (string | undefined)[] = [
    range(minimum, maximum),
    isNumber(exclusiveMinimum) ? `more than ${exclusiveMinimum}` : undefined,
    isNumber(exclusiveMaximum) ? `less than ${exclusiveMaximum}` : undefined,
    isNumber(multipleOf) ? `a multiple of ${multipleOf}` : undefined,
    unit(range(schema["minLength"], schema["maxLength"]), "character"),
    unit(range(schema["minItems"], schema["maxItems"]), "item"),
    schema["uniqueItems"] === true ? "all different" : undefined,
    typeof pattern === "string" ? `matches /${cut(pattern, LONGEST_VALUE)}/` : undefined,
    typeof format === "string" ? format : undefined,
    "default" in schema ? `default ${valueText(schema["default"])}` : undefined,
    Array.isArray(examples) && examples.length > 0 ? `for example ${valueText(examples[0])}` : undefined,
    schema["deprecated"] === true ? "deprecated" : undefined,
  ];
  return words.filter((word) => word !== undefined);
}

function range(least: unknown, most: unknown): string | undefined {
  if (isNumber(least) && isNumber(most)) return least === most ? `exactly ${least}` : `${least} to ${most}`;
  if (isNumber(least)) return `at least ${least}`;
  return isNumber(most) ? `at most ${most}` : undefined;
}

function unit(text: string | undefined, name: string): string | undefined {
  if (text === undefined) return undefined;
  return /^(?:exactly|at least|at most) 1$/.test(text) ? `${text} ${name}` : `${text} ${name}s`;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function valueText(value: unknown): string {
  return cut(JSON.stringify(value), LONGEST_VALUE);
}
