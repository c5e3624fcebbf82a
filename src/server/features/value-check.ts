import { wrongOption } from "../../errors/check-options.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { isNestedDeeper, MAX_NESTING } from "../../json/nesting.ts";
import { compileQuickCheck } from "../../schema/quick-check.ts";
import type { SchemaValidator } from "../../schema/validator.ts";
import type { StandardIssue, StandardResult, StandardSchema } from "./schema-types.ts";

/** A value as its schema lets it through, or what is wrong with it, in words. */
type CheckedValue = { value: unknown; problems?: undefined } | { problems: readonly string[] };

/** A schema, ready to be shown to clients and to check values. */
export interface ValueCheck {
  /** As clients see it. */
  readonly json: Record<string, unknown>;
  /** A promise only where the schema of a library needs one, or where something is wrong. */
  check(value: unknown): CheckedValue | Promise<CheckedValue>;
}

/** Whether a schema describes what is given to a handler, or what it returns; and what it belongs to, for messages. */
interface SchemaUse {
  side: "input" | "output";
  /** `The input of the tool "add"`. */
  subject: string;
}

const TARGET = "draft-2020-12";
const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const MAX_PROBLEMS = 20;
/** In characters. */
const SHORT = 1_000;
/** Callers choose the values, and all others wait while one is checked. */
const CHECKING_MS = 250;
/** What is wrong is known already, though not why. */
const EXPLAINING_MS = 200;

/**
 * Reads a JSON Schema, or a schema of a library, once. Throws where clients could not be told of it, or values not be checked.
 * `isChecked`: false for servers whose handlers check values themselves.
 */
export function readSchema(schema: unknown, use: SchemaUse, isChecked = true): ValueCheck {
  const standard = standardOf(schema);
  if (!standard && !isRecord(schema)) throw wrongOption(`${use.subject} is not a schema`, USE_A_SCHEMA);
  const json = standard ? jsonOf(standard, use) : (schema as Record<string, unknown>);
  if (!isChecked) return { json, check: (value) => ({ value }) };
  if (standard) return standardCheck(standard, json);
  const check = jsonCheck(json, use);
  if (Object.values(json).some(holdsStandard)) {
    throw wrongOption(
      `${use.subject} has the schema of a library inside of a JSON Schema, where clients cannot read it`,
      "Write all of it with the library, such as z.object({ … }) of zod, or all of it as JSON Schema.",
    );
  }
  return check;
}

/** The JSON Schema is not circular: it has been written as JSON. */
function holdsStandard(part: unknown): boolean {
  if (standardOf(part)) return true;
  return typeof part === "object" && part !== null && Object.values(part).some(holdsStandard);
}

const USE_A_SCHEMA = 'Write a JSON Schema such as { type: "object", properties: { … } }, or z.object({ … }) of zod.';

/** Some libraries' schemas are functions. */
function standardOf(schema: unknown): StandardSchema["~standard"] | undefined {
  const isPossible = isRecord(schema) || typeof schema === "function";
  const found: unknown = isPossible ? Reflect.get(schema, "~standard") : undefined;
  if (!isRecord(found) || typeof found["validate"] !== "function") return undefined;
  return found as unknown as StandardSchema["~standard"];
}

function standardCheck(standard: StandardSchema["~standard"], json: Record<string, unknown>): ValueCheck {
  return {
    json,
    check(value) {
      const result = standard.validate(value);
      return isThenable(result) ? Promise.resolve(result).then(standardResult) : standardResult(result);
    },
  };
}

/** Promises of libraries and of other realms are instances of other classes. */
function isThenable(result: object): result is PromiseLike<StandardResult<unknown>> {
  return "then" in result && typeof result.then === "function";
}

function standardResult(result: StandardResult<unknown>): CheckedValue {
  if (!result.issues) return { value: result.value };
  return { problems: result.issues.slice(0, MAX_PROBLEMS).map(issueText) };
}

/** `items[2].price: message`. */
function issueText({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => (typeof part === "object" ? part.key : part));
  const name = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return name === "" ? message : `${name.replace(/^\./, "")}: ${message}`;
}

function jsonOf(
  { vendor, jsonSchema }: StandardSchema["~standard"],
  { side, subject }: SchemaUse,
): Record<string, unknown> {
  const convert: unknown = isRecord(jsonSchema) ? jsonSchema[side] : undefined;
  if (typeof convert !== "function") {
    throw wrongOption(
      `${subject} is a schema of ${JSON.stringify(vendor)} that does not give its JSON Schema, which clients need`,
      vendor === "valibot"
        ? "Write toStandardJsonSchema(schema), from @valibot/to-json-schema."
        : "Use zod 4.2, ArkType 2.1.28 or later, Valibot with toStandardJsonSchema, or write a JSON Schema.",
    );
  }
  try {
    const { $schema, ...json } = jsonSchema[side]({ target: TARGET });
    return $schema === undefined || $schema === DIALECT ? json : { $schema, ...json };
  } catch (error) {
    throw wrongOption(
      `${subject} cannot be written as a JSON Schema: ${messageOf(error)}`,
      "Use types that JSON has: text, numbers, booleans, null, lists and objects.",
    );
  }
}

function jsonCheck(json: Record<string, unknown>, { subject }: SchemaUse): ValueCheck {
  const quick = quickCheckOf(json, subject);
  const isFlat = !JSON.stringify(json).includes('"$ref"');
  let validator: SchemaValidator | undefined;
  return {
    json,
    check(value) {
      const plain = isPlain(value, MAX_NESTING) ? value : asJson(value);
      if (plain === undefined) return { problems: ["the value cannot be written as JSON"] };
      if (plain !== value && isNestedDeeper(plain)) {
        return { problems: [`the value is nested deeper than ${MAX_NESTING} levels`] };
      }
      const result = quick(plain);
      if (result === "valid") return { value: plain };
      return explained(plain, result);
    },
  };

  /** Of such a value the quick check has seen most: explaining it takes no longer, so that nothing watches the clock. */
  function isShort(value: unknown): boolean {
    return isFlat && JSON.stringify(value).length <= SHORT;
  }

  /** The validator says why; it is loaded with the first value that needs it, because it is large. */
  async function explained(value: unknown, found: "invalid" | "unsure"): Promise<CheckedValue> {
    if (!validator) {
      const { compileSchema } = await import("../../schema/validator.ts");
      validator = compileSchema(json);
    }
    const maxMs = found === "unsure" ? CHECKING_MS : isShort(value) ? Infinity : EXPLAINING_MS;
    const checked = validator(value, maxMs);
    if (checked.kind === "invalid")
      return { problems: checked.problems.slice(0, MAX_PROBLEMS).map(({ message }) => message) };
    const isSlow = checked.kind === "unusable" && checked.isSlow === true;
    // It was this value that took too long: those of other callers can be checked.
    if (isSlow) validator = undefined;
    if (found === "invalid") return { problems: ["the value does not match the schema"] };
    if (checked.kind === "valid") return { value };
    return {
      problems: [isSlow ? "it takes too long to check the value" : `the value cannot be checked: ${checked.reason}`],
    };
  }
}

function quickCheckOf(json: Record<string, unknown>, subject: string): ReturnType<typeof compileQuickCheck> {
  try {
    return compileQuickCheck(json);
  } catch (error) {
    throw wrongOption(`${subject} is not a schema that can be used: ${messageOf(error)}`, USE_A_SCHEMA);
  }
}

/**
 * Whether a value is the same after a journey as JSON, without dates, members without a value, or instances of classes; and
 * not nested deeper than this.
 */
function isPlain(value: unknown, levels: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "string" || typeof value === "boolean";
  if (value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    // Holes in it are passed over by `every`, and null in JSON.
    for (const item of value as unknown[]) if (!isPlain(item, levels - 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name in value) if (!isPlain((value as Record<string, unknown>)[name], levels - 1)) return false;
  return true;
}

function asJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    // The value is circular, holds a bigint, is nested too deeply, or is not there.
    return undefined;
  }
}
