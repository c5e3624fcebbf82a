import { createContext, Script } from "node:vm";
import type { CallToolResult, Tool } from "../protocol/mcp.ts";
import { prepareSchema, UnusableSchema, type CleanSchema, type PreparedSchema } from "./schema-preparation.ts";
import { problemsIn, type SchemaProblem } from "./schema-problems.ts";

/** What came of checking a value; never an exception. */
export type SchemaCheck =
  | { kind: "valid" }
  /** The first fifty problems, in the order of the schema. */
  | { kind: "invalid"; problems: SchemaProblem[] }
  /** Nothing was checked: the schema's dialect is unknown, it refers to the network, it or the value is too large … */
  | { kind: "unusable"; reason: string };

const VALID: SchemaCheck = { kind: "valid" };
const MAX_PROBLEMS = 50;
const MAX_VALUE_LENGTH = 10 * 1024 * 1024;
const MAX_VALUE_DEPTH = 256;
/** Patterns and references of a hostile schema can keep a processor busy for years. */
const MAX_MS = 1_000;

/** Are these arguments what the tool's `inputSchema` asks for? */
export async function checkArguments(tool: Tool, args: unknown = {}): Promise<SchemaCheck> {
  return checkValue(tool.inputSchema, args);
}

/** Is the result's `structuredContent` what the tool's `outputSchema` promises? A tool's failure promises nothing. */
export async function checkResult(tool: Tool, result: CallToolResult): Promise<SchemaCheck> {
  const isFinal = result.resultType === undefined || result.resultType === "complete";
  if (tool.outputSchema === undefined || result.isError || !isFinal) return VALID;
  if (result.structuredContent === undefined) {
    const message = "structuredContent is missing, though the tool has an output schema";
    return { kind: "invalid", problems: [{ path: "", message }] };
  }
  return checkValue(tool.outputSchema, result.structuredContent);
}

async function checkValue(schema: Record<string, unknown>, value: unknown): Promise<SchemaCheck> {
  const plain = plainOf(value);
  if ("kind" in plain) return plain;
  const validator = await validatorFor(schema);
  return typeof validator === "string" ? { kind: "unusable", reason: validator } : validator(plain.value);
}

/** The value as it travels: members that JSON does not have are not there. */
function plainOf(value: unknown): { value: unknown } | SchemaCheck {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // A circle, a bigint, or nested too deep to be written.
  }
  if (text === undefined) {
    return { kind: "invalid", problems: [{ path: "", message: "the value cannot be written as JSON" }] };
  }
  if (text.length > MAX_VALUE_LENGTH) return tooMuch(`larger than ${MAX_VALUE_LENGTH} characters`);
  const plain: unknown = JSON.parse(text);
  return isDeeper(plain, MAX_VALUE_DEPTH) ? tooMuch(`nested deeper than ${MAX_VALUE_DEPTH} levels`) : { value: plain };
}

function tooMuch(how: string): SchemaCheck {
  return { kind: "unusable", reason: `the value is ${how}` };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** A validator, or why there is none. */
type Compiled = ((value: unknown) => SchemaCheck) | string;

/** A memory of what was computed, not a state: it goes when the schema goes. */
const compiled = new WeakMap<object, Promise<Compiled>>();

function validatorFor(schema: Record<string, unknown>): Promise<Compiled> {
  const known = compiled.get(schema);
  if (known) return known;
  const compiling = compile(schema);
  if (typeof schema === "object" && schema !== null) compiled.set(schema, compiling);
  return compiling;
}

async function compile(schema: unknown): Promise<Compiled> {
  // Only those who check pay for loading it.
  const { dereference, validate } = await import("@cfworker/json-schema");
  let prepared: PreparedSchema;
  let lookup: Record<string, CleanSchema>;
  try {
    prepared = prepareSchema(schema);
    lookup = dereference(prepared.root) as Record<string, CleanSchema>;
    requireLocal(prepared.references, lookup);
  } catch (error) {
    return `the schema cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }

  const { root, draft } = prepared;
  return (value) => {
    const run = (stopEarly: boolean) => validate(value, root, draft, lookup as never, stopEarly);
    const watch = new Watch();
    try {
      const { valid, errors } = watch.run(() => run(false), () => run(true));
      if (valid) return VALID;
      return { kind: "invalid", problems: problemsIn(errors, { root, lookup, value }).slice(0, MAX_PROBLEMS) };
    } catch (error) {
      return { kind: "unusable", reason: `the schema cannot be used: ${reasonOf(error)}` };
    }
  };
}
