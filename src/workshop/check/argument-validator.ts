import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import type { DataValidationCxt, DataValidateFunction } from "ajv/dist/types/index.js";
import { boundErrors } from "./bounded-errors.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { isRecord } from "../../json/is-record.ts";
import { VARIANTS } from "../compile/schema-writer.ts";
import { isDate, isDateTime } from "../expression/calendar.ts";
import type { ArgumentPatterns } from "./argument-patterns.ts";
import { expectedOf, rankedBranches } from "./branches.ts";

/** Alternatives inside alternatives: with more, a call could take minutes to check. */
const MAX_ATTEMPTS = 20_000;

/** The path of each error holds all names above it, so long names would be written again and again. */
const LONGEST_NAME = 1_000;

/**
 * Checks arguments against a schema that was written for checks. Whether they are right is found out first, and ends with
 * the first error; only for wrong ones a second pass collects errors, because each costs a thousand times a right value.
 */
export class ArgumentValidator {
  readonly #schema: Record<string, unknown>;
  readonly #patterns: ArgumentPatterns;
  readonly #definitions: Readonly<Record<string, unknown>>;
  readonly #isValid: (value: unknown) => boolean;
  #explain: ((value: unknown) => ErrorObject[]) | undefined;
  #attempts = 0;

  constructor(schema: Record<string, unknown>, tool: string, patterns: ArgumentPatterns) {
    this.#schema = schema;
    this.#patterns = patterns;
    this.#definitions = isRecord(schema["$defs"]) ? schema["$defs"] : {};
    try {
      this.#isValid = this.#create({ allErrors: false }).compile(schema);
    } catch (error) {
      throw new NexusError("CONFIG_INVALID", `The input schema of ${tool} cannot be used: ${messageOf(error)}`);
    }
  }

  /** Whether the last value had too many alternatives to try all of them. */
  get isExceeded(): boolean {
    return this.#attempts > MAX_ATTEMPTS;
  }

  /** None for a valid value; for others at least one, and of many the first `most`. */
  errorsOf(value: unknown, most: number): ErrorObject[] {
    this.#begin();
    if (this.#isValid(value)) return [];
    if (hasNameOver(LONGEST_NAME, value))
      return [unexplained(`a name in them is longer than ${LONGEST_NAME} characters`)];
    this.#begin();
    this.#explain ??= this.#explainer(most);
    const errors = this.#explain(value).slice(0, most);
    // The second pass ends early, and may not have got to the error of the first one.
    return errors.length > 0 ? errors : [unexplained("they do not match the schema")];
  }

  #begin(): void {
    this.#attempts = 0;
    this.#patterns.renew();
  }

  #explainer(most: number): (value: unknown) => ErrorObject[] {
    const ajv = this.#create({ allErrors: true, verbose: true });
    boundErrors(ajv, most);
    const compiled = ajv.compile(this.#schema);
    return (value) => (compiled(value) ? [] : (compiled.errors ?? []));
  }

  #create(options: { allErrors: boolean; verbose?: true }): Ajv2020 {
    const patterns = this.#patterns;
    const ajv = new Ajv2020({
      ...options,
      strict: false,
      // A field may be named `constructor`, which every object seems to have.
      ownProperties: true,
      validateSchema: false,
      logger: false,
      // 19.99 is a multiple of 0.01, but not for doubles.
      multipleOfPrecision: 9,
      code: { regExp: Object.assign((source: string) => patterns.compile(source), { code: "patterns.compile" }) },
      formats: { date: isDate, "date-time": isDateTime },
    });
    // The validator's own compares each item with each other one.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (isUnique: boolean, items: unknown[]) =>
        !isUnique || new Set(items.map(canonicalJson)).size === items.length,
    });
    ajv.addKeyword({
      keyword: VARIANTS,
      schemaType: "array",
      errors: "full",
      compile: (branches: Record<string, unknown>[], parentSchema) => this.#variants(ajv, branches, parentSchema),
    });
    return ajv;
  }

  /** The most likely alternative is tried first; if none matches, its problems are reported. */
  #variants(ajv: Ajv2020, branches: readonly Record<string, unknown>[], parentSchema: object): DataValidateFunction {
    const compiled = new Map<number, ReturnType<Ajv2020["compile"]>>();
    const branchAt = (index: number) => {
      const known = compiled.get(index) ?? ajv.compile(branches[index] ?? {});
      compiled.set(index, known);
      return known;
    };
    const validate: DataValidateFunction = (data: unknown, context?: DataValidationCxt) => {
      let nearest: Partial<ErrorObject>[] | undefined;
      for (const index of rankedBranches(branches, this.#definitions, data)) {
        if (++this.#attempts > MAX_ATTEMPTS) break;
        const branch = branchAt(index);
        if (branch(data, context)) return true;
        nearest ??= branch.errors ?? [];
      }
      const params = expectedOf(branches, this.#definitions, data);
      const none = {
        keyword: VARIANTS,
        instancePath: context?.instancePath ?? "",
        schemaPath: "",
        params,
        parentSchema,
        data,
      };
      validate.errors = nearest ?? [none];
      return false;
    };
    return validate;
  }
}

function unexplained(why: string): ErrorObject {
  const message = `the arguments are not valid: ${why}`;
  return { keyword: "", instancePath: "", schemaPath: "", params: {}, message };
}

function hasNameOver(length: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => hasNameOver(length, item));
  for (const name in value) {
    if (name.length > length || hasNameOver(length, (value as Record<string, unknown>)[name])) return true;
  }
  return false;
}
