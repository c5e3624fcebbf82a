import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import type { DataValidationCxt, DataValidateFunction } from "ajv/dist/types/index.js";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { isRecord } from "../../json/is-record.ts";
import { VARIANTS } from "../compile/schema-writer.ts";
import { isDate, isDateTime } from "../expression/calendar.ts";
import type { ArgumentPatterns } from "./argument-patterns.ts";
import { expectedOf, rankedBranches } from "./branches.ts";

/** Alternatives inside alternatives: with more, a call could take minutes to check. */
const MAX_ATTEMPTS = 20_000;

/** Checks arguments against a schema that was written for checks. */
export class ArgumentValidator {
  readonly #ajv: Ajv2020;
  readonly #definitions: Readonly<Record<string, unknown>>;
  readonly #validate: (value: unknown) => ErrorObject[];
  #attempts = 0;

  constructor(schema: Record<string, unknown>, tool: string, patterns: ArgumentPatterns) {
    this.#definitions = isRecord(schema["$defs"]) ? schema["$defs"] : {};
    this.#ajv = this.#create(patterns);
    try {
      const compiled = this.#ajv.compile(schema);
      this.#validate = (value) => (compiled(value) ? [] : (compiled.errors ?? []));
    } catch (error) {
      throw new NexusError("CONFIG_INVALID", `The input schema of ${tool} cannot be used: ${messageOf(error)}`);
    }
  }

  /** Whether the last value had too many alternatives to try all of them. */
  get isExceeded(): boolean {
    return this.#attempts > MAX_ATTEMPTS;
  }

  errorsOf(value: unknown): ErrorObject[] {
    this.#attempts = 0;
    return this.#validate(value);
  }

  #create(patterns: ArgumentPatterns): Ajv2020 {
    const ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
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
