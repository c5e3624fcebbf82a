import { NexusError, messageOf } from "../../errors/nexus-error.ts";
import { checkedSchema, SOURCE_PAYLOAD } from "../compile/json-schema.ts";
import type { ToolFile, Shape } from "../file/model/tool-file.ts";
import { Completion } from "./completion.ts";
import { rulesFor } from "./rules.ts";
import { argumentProblems, type ArgumentProblem } from "./argument-problem.ts";
import { isRecord } from "../../json/is-record.ts";
import { AlternativeChooser } from "../codec/union/alternative-chooser.ts";
import { findType, findUnion } from "../shape/shape-parts.ts";
import { pathOf, type ValuePlace } from "./value-place.ts";
import { Ajv2020, type ErrorObject, _, Name } from "ajv/dist/2020.js";
import type { DataValidationCxt, DataValidateFunction } from "ajv/dist/types/index.js";
import { canonicalJson } from "../../json/canonical-json.ts";
import { VARIANTS } from "../compile/schema-writer.ts";
import { isDate, isDateTime } from "../expression/calendar.ts";
import { expectedOf, rankedBranches } from "./branches.ts";
import { linearPattern } from "../pattern/linear-pattern.ts";
import { StepBudget, StepsExceeded } from "../pattern/step-budget.ts";

/** The arguments with defaults, and all problems, each with the name of its argument. */
export interface Checked {
  value: Record<string, unknown>;
  problems: string[];
  /** Whether all problems are inside an argument, not with the argument names themselves. */
  isOnlyInside?: boolean;
}

/** As many are looked for and made, not only shown: each costs a thousand times a right value. */
const MOST_PROBLEMS = 50;

/**
 * Makes the checker of a tool's arguments: its whole schema, even if the list shows less of it, then the rules of its
 * types. Called once per tool.
 */
export function checkerFor(file: ToolFile, tool: string, now: () => number = Date.now): (args: unknown) => Checked {
  const spec = file.tools[tool];
  if (!spec) throw new NexusError("CONFIG_INVALID", `There is no tool "${tool}"`);
  const patterns = new ArgumentPatterns();
  const validator = new ArgumentValidator(checkedSchema(file, spec), tool, patterns);
  const judge = rulesFor(file, spec.input, now);
  const completion = new Completion(file, spec.input, {
    drops: spec.unknown === "drop",
    extra: new Set(spec.response.sourcePayload ? [SOURCE_PAYLOAD] : []),
  });

  const check = (args: Record<string, unknown>): Checked => {
    const value = completion.complete(args);
    const found = validator
      .errorsOf(value, MOST_PROBLEMS)
      .filter(({ keyword }) => !(patterns.isExceeded && keyword === "pattern"))
      .flatMap((error) => argumentProblems(error, value));
    found.push(...inexactNumbers(file, spec.input, value, MOST_PROBLEMS - found.length));
    const wrong = found.length === 0 ? undefined : wrongPaths(found);
    const rules = judge(value, { wrong: wrong && ((path) => wrong.has(path)), most: MOST_PROBLEMS - found.length });
    if (found.length === 0 && rules.length === 0 && !patterns.isExceeded && !validator.isExceeded) {
      completion.addHidden(value);
      return { value, problems: [] };
    }
    const problems = [
      ...found.map(({ message }) => message),
      ...(patterns.isExceeded ? ["The arguments hold too much text to check against the patterns; send less"] : []),
      ...(validator.isExceeded
        ? ["The arguments have too many alternatives inside each other to check; send less"]
        : []),
      ...rules.map(({ path, say }) => (path === "" ? say : `${path}: ${say}`)),
    ];
    const names = [...found.map(({ name }) => name), ...rules.map(({ path }) => path)];
    const isOnlyInside = names.every((name) => /[.[]/.test(name));
    return { value, problems: shortened([...new Set(problems)]), isOnlyInside };
  };

  return (args) => {
    const given = args ?? {};
    if (typeof given !== "object" || Array.isArray(given)) {
      return { value: {}, problems: [`expected object, got ${Array.isArray(given) ? "array" : typeof given}`] };
    }
    try {
      return check(given as Record<string, unknown>);
    } catch (error) {
      // Recursive types can be nested deeper than any stack.
      if (error instanceof RangeError) return { value: {}, problems: ["The arguments are nested too deep"] };
      throw error;
    }
  };
}

/** The paths of all fields that have a problem, or something inside them that has one. */
function wrongPaths(problems: readonly ArgumentProblem[]): Set<string> {
  const paths = new Set<string>();
  for (const { name } of problems) {
    paths.add(name);
    for (let at = name.search(/[.[]/); at > 0; at = nextPart(name, at)) paths.add(name.slice(0, at));
  }
  return paths;
}

/** The end of the next part of a path; -1 if there is none. */
function nextPart(path: string, at: number): number {
  const next = path.slice(at + 1).search(/[.[]/);
  return next === -1 ? -1 : at + 1 + next;
}

function shortened(problems: string[]): string[] {
  if (problems.length < MOST_PROBLEMS) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), `there may be more than these ${MOST_PROBLEMS} problems`];
}

/** A double keeps this many significant digits. */
const KEPT_DIGITS = 15;

/**
 * Numbers that may have lost digits in JSON, whose numbers are doubles: whole numbers beyond the exact range, and other
 * large numbers with more digits than a double keeps. 6e23 is exact as written. At most `most` are reported.
 */
function inexactNumbers(file: ToolFile, type: string, value: unknown, most: number): ArgumentProblem[] {
  // Looked for first without shapes and paths, because hardly any arguments have one.
  if (!holdsLargeNumber(value)) return [];
  const chooser = new AlternativeChooser(file.types, "names", "input");
  const found: ArgumentProblem[] = [];
  collect({ kind: "object", type }, value, undefined);
  return found;

  function collect(given: Shape | undefined, value: unknown, place: ValuePlace): void {
    if (found.length >= most) return;
    if (typeof value === "number") {
      const scalar = given?.kind === "scalar" ? given : undefined;
      if (mayHaveLost(value, scalar?.type === "integer")) found.push(problemAt(pathOf(place), scalar?.exact === true));
      return;
    }
    if (typeof value !== "object" || value === null) return;
    const union = given && findUnion(file, given);
    const shape = union ? chooser.choose(union, value)?.shape : given;
    if (Array.isArray(value)) {
      const of = shape?.kind === "list" ? shape.of : undefined;
      for (let index = 0; index < value.length; index++) collect(of, value[index], { above: place, step: index });
    } else if (isRecord(value)) {
      for (const name of Object.keys(value)) {
        collect(memberOf(shape, name), value[name], { above: place, step: name });
      }
    }
  }

  /** Undefined for anything without a declared shape, which is looked at all the same. */
  function memberOf(shape: Shape | undefined, name: string): Shape | undefined {
    if (shape?.kind === "map") return shape.of;
    const type = shape?.kind === "object" ? findType(file, shape.type) : undefined;
    if (!type) return undefined;
    return Object.hasOwn(type.fields, name) ? type.fields[name]?.shape : type.additional;
  }
}

function holdsLargeNumber(value: unknown): boolean {
  if (typeof value === "number") return isLarge(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsLargeNumber);
  for (const name of Object.keys(value)) if (holdsLargeNumber((value as Record<string, unknown>)[name])) return true;
  return false;
}

function isLarge(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function mayHaveLost(value: number, isInteger: boolean): boolean {
  if (!isLarge(value)) return false;
  return isInteger || Number(value.toPrecision(KEPT_DIGITS)) !== value;
}

function problemAt(name: string, isExact: boolean): ArgumentProblem {
  const limit = Number.MAX_SAFE_INTEGER;
  const advice = isExact ? "write it as text, in quotes" : `whole numbers go from -${limit} to ${limit}`;
  return { name, message: `${name}: too large to be exact; ${advice}` };
}

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

/** Keywords whose number of errors depends on the value; that of all others depends on the schema. */
const REPEATING = [
  "items",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
];

/** The validator's counter in the functions that it generates. */
const ERRORS = new Name("errors");

/**
 * Makes a validator with `allErrors` stop repeating a check once there are `most` errors. What it then says about validity
 * is meaningless: an alternative that was not checked to its end counts as valid.
 */
function boundErrors(ajv: Ajv2020, most: number): void {
  for (const keyword of REPEATING) {
    const definition = ajv.getKeyword(keyword);
    if (typeof definition !== "object" || !("code" in definition)) continue;
    const { code } = definition;
    // Changed in place, because a keyword that is added again is checked after the others, and errors keep that order.
    definition.code = (context, rule) => {
      const { gen } = context;
      const own = { forRange: gen.forRange.bind(gen), forIn: gen.forIn.bind(gen) };
      const bounded =
        <Item>(body: (item: Item) => void) =>
        (item: Item) => {
          body(item);
          gen.if(_`${ERRORS} >= ${most}`, () => gen.break());
        };
      gen.forRange = (name, from, to, body, kind) => own.forRange(name, from, to, bounded(body), kind);
      gen.forIn = (name, object, body, kind) => own.forIn(name, object, bounded(body), kind);
      try {
        code(context, rule);
      } finally {
        Object.assign(gen, own);
      }
    };
  }
}

/** The patterns of one tool's arguments. All texts of a call share one budget. */
export class ArgumentPatterns {
  readonly #budget = new StepBudget();
  #isExceeded = false;

  /** Resets the budget for the next call. */
  renew(): void {
    this.#budget.renew();
    this.#isExceeded = false;
  }

  /** Whether some text of this call was not checked: then the results of patterns are meaningless. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** For the validator. */
  compile(source: string): { test(text: string): boolean; toString(): string } {
    const pattern = linearPattern(source);
    return {
      test: (text) => {
        if (this.#isExceeded) return false;
        try {
          return pattern.test(text, this.#budget);
        } catch (error) {
          if (!(error instanceof StepsExceeded)) throw error;
          this.#isExceeded = true;
          return false;
        }
      },
      // The validator distinguishes patterns by it.
      toString: () => source,
    };
  }
}
