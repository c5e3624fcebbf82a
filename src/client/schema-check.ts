import { isRecord } from "../json/is-record.ts";
import type { CallToolResult, Tool } from "../protocol/mcp.ts";
import { isNestedDeeper, MAX_NESTING } from "../json/nesting.ts";
import type { SchemaCheck, SchemaValidator } from "../schema/validator.ts";

const VALID: SchemaCheck = { kind: "valid" };
const MAX_VALUE_LENGTH = 10 * 1024 * 1024;
/** Before each call, so that little time is enough for small arguments; more for each character of larger ones. */
const ARGUMENTS_TIME = { shortestMs: 250, msPerCharacter: 0.002, longestMs: 3_000 };

/** Checks arguments against the tool's `inputSchema`. Never throws; external schemas are not loaded. */
export async function checkArguments(tool: Tool, args: unknown = {}): Promise<SchemaCheck> {
  const { shortestMs, msPerCharacter, longestMs } = ARGUMENTS_TIME;
  const timeFor = (length: number) => Math.min(longestMs, Math.round(shortestMs + length * msPerCharacter));
  return checkValue(tool.inputSchema, args, timeFor);
}

/** Checks `structuredContent` against the tool's `outputSchema`. A result with `isError` is always valid. */
export async function checkResult(tool: Tool, result: CallToolResult): Promise<SchemaCheck> {
  const isFinal = result.resultType === undefined || result.resultType === "complete";
  if (tool.outputSchema === undefined || result.isError === true || !isFinal) return VALID;
  if (result.structuredContent !== undefined) return checkValue(tool.outputSchema, result.structuredContent);
  return invalid("structuredContent is missing, but the tool has an output schema");
}

async function checkValue(
  schema: unknown,
  value: unknown,
  timeFor: (length: number) => number | undefined = () => undefined,
): Promise<SchemaCheck> {
  const json = jsonOf(value);
  if (json === undefined) return invalid("the value cannot be written as JSON");
  if (json.length > MAX_VALUE_LENGTH) return tooMuch(`larger than ${MAX_VALUE_LENGTH} characters`);
  // The value as the server gets it: without members that JSON does not have.
  const plain: unknown = JSON.parse(json);
  if (isNestedDeeper(plain)) return tooMuch(`nested deeper than ${MAX_NESTING} levels`);
  const validator = await validatorFor(schema);
  return validator(plain, timeFor(json.length));
}

/**
 * Process-wide, because a validator depends on its schema alone and `checkArguments` has no owner that could keep it.
 * Bounded, because an entry is collected together with its schema, which the list of tools holds.
 */
const validators = new WeakMap<object, SchemaValidator>();

async function validatorFor(schema: unknown): Promise<SchemaValidator> {
  if (!isRecord(schema)) return () => ({ kind: "unusable", reason: "the schema is not an object" });
  const known = validators.get(schema);
  if (known) return known;
  // Loaded on first use, because it is large.
  const { compileSchema } = await import("../schema/validator.ts");
  const validator = compileSchema(schema);
  validators.set(schema, validator);
  return validator;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // The value is circular, contains a bigint, or is nested too deeply.
    return undefined;
  }
}

function invalid(message: string): SchemaCheck {
  return { kind: "invalid", problems: [{ path: "", message }] };
}

function tooMuch(how: string): SchemaCheck {
  return { kind: "unusable", reason: `the value is ${how}` };
}
