import { checkArguments } from "../../client/schema-check.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { Output } from "../output/output.ts";
import { isRecord } from "../../json/is-record.ts";
import { wrongUsage } from "../command/command-line.ts";
import { jsonGiven } from "./json-given.ts";
import { keyValueFromFile } from "./key-value.ts";
import { SchemaShape } from "../../schema/shape.ts";
import { parseJson } from "../../json/parse-json.ts";
import { requireExactNumbers } from "./exact-number.ts";

interface GivenArguments {
  /** `--arg k=v`, in their order. */
  arg?: readonly string[] | undefined;
  /** `--args`: JSON, `@file`, or `-` for stdin. */
  args?: string | undefined;
}

/** The arguments of a call: each `--arg` converted by the tool's schema, on top of those of `--args`. */
export async function toolArguments(
  { arg = [], args }: GivenArguments,
  inputSchema: unknown,
): Promise<Record<string, unknown>> {
  const shape = new SchemaShape(inputSchema);
  const result = args === undefined ? {} : await wholeArguments(args);
  const byKey = new Map<string, string[]>();
  for (const { key, value } of await Promise.all(arg.map((each) => keyValueFromFile(each, "--arg")))) {
    byKey.set(key, [...(byKey.get(key) ?? []), value]);
  }
  for (const [key, texts] of byKey) {
    const { path, shape: place } = placeOf(key, shape);
    const isKnown = place.types.length > 0 || place.alternatives.length > 0;
    if (texts.length > 1 && isKnown && !place.takesArray) {
      throw wrongUsage(`--arg ${key} has ${texts.length} values, but the tool accepts one`, "Specify it once.");
    }
    put(result, path, typedValues(texts, place));
  }
  return result;
}

/** A property whose own name has dots wins over a nested one. */
function placeOf(key: string, shape: SchemaShape): { path: string[]; shape: SchemaShape } {
  const whole = shape.propertyNames.includes(key) ? shape.property(key) : undefined;
  if (whole) return { path: [key], shape: whole };
  for (let dot = key.indexOf("."); dot > 0; dot = key.indexOf(".", dot + 1)) {
    const head = key.slice(0, dot);
    const outer = shape.property(head);
    if (!outer?.takesObject) continue;
    const inner = placeOf(key.slice(dot + 1), outer);
    return { path: [head, ...inner.path], shape: inner.shape };
  }
  return { path: [key], shape: shape.property(key) ?? new SchemaShape({}) };
}

function put(target: Record<string, unknown>, [name = "", ...rest]: readonly string[], value: unknown): void {
  const before = Object.hasOwn(target, name) ? target[name] : undefined;
  const inner = isRecord(before) ? before : {};
  if (rest.length > 0) put(inner, rest, value);
  // Defined instead of assigned, so that "__proto__" is a normal name.
  Object.defineProperty(target, name, {
    value: rest.length > 0 ? inner : value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

async function wholeArguments(args: string): Promise<Record<string, unknown>> {
  const value = await jsonGiven(args, "--args");
  if (isRecord(value)) return value;
  const what = Array.isArray(value) ? "an array" : JSON.stringify(value);
  throw wrongUsage(
    `--args must be a JSON object, not ${what}`,
    `Use --args '{"key": "value"}', @file, or - for stdin.`,
  );
}

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

/** Reports invalid arguments before they are sent to a server. */
export async function requireFitting(
  tool: Tool,
  args: Record<string, unknown>,
  { out, look }: { out: Output; /** The command that shows the tool. */ look: () => string },
): Promise<void> {
  const outcome = await checkArguments(tool, args);
  if (outcome.kind === "unusable") {
    return out.warn(`the arguments were not checked: ${visible(outcome.reason)}`);
  }
  if (outcome.kind === "invalid") {
    const found = outcome.problems.map(({ message }) => message);
    // An unknown name that an open schema allows is probably the missing one, misspelt.
    const unknown = strangers(args, tool.inputSchema).map(({ name }) => `unknown property ${name}`);
    const problems = [...found, ...unknown.filter((text) => !found.some((problem) => problem.startsWith(text)))];
    const message = `Invalid arguments for the tool "${tool.name}": ${problems.join("; ")}`;
    throw wrongUsage(message, await hintFor(tool, look()));
  }
  for (const { name, near } of strangers(args, tool.inputSchema)) {
    if (near !== undefined) {
      const message = `"${tool.name}" has no argument "${name}". Did you mean ${near}?`;
      throw wrongUsage(message, await hintFor(tool, look()));
    }
    out.warn(`the schema of "${visible(tool.name)}" has no argument "${visible(name)}"`);
  }
}

async function hintFor(tool: Tool, look: string): Promise<string> {
  const { exampleArguments } = await import("../look/example-call.ts");
  const example = exampleArguments(tool).join(" ");
  const shown = `"${look}" shows the tool's arguments; --no-validate sends them unchecked.`;
  return example === "" ? shown : `For example: ${example}\n${shown}`;
}

/** Arguments that the schema does not know; `near` are the names that were probably meant. */
function strangers(args: Record<string, unknown>, inputSchema: unknown): { name: string; near?: string }[] {
  const shape = new SchemaShape(inputSchema);
  const known = shape.propertyNames;
  const { patternProperties, additionalProperties } = shape.schema;
  if (known.length === 0 || isRecord(patternProperties) || isRecord(additionalProperties)) return [];
  return Object.keys(args)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearestName(
        name,
        known.filter((other) => !Object.hasOwn(args, other)),
      );
      return near === undefined ? { name } : { name, near };
    });
}
