import { canonicalJson } from "../json/canonical-json.ts";
import { isRecord } from "../json/is-record.ts";
import { referenced } from "./pointer.ts";
import { prepareSchema, UnusableSchema, type CleanSchema } from "./preparation.ts";

/** `unsure`: only the validator that is bounded in time can tell. */
type QuickResult = "valid" | "invalid" | "unsure";

type Check<T = unknown> = (value: T) => boolean;

/** Thrown by checks and while they are made: this needs the other validator. It has no stack, so that it costs little. */
const UNSURE = { needs: "the validator that is bounded in time" };
/** In a longer text, a pattern could take long. */
const LONGEST_MATCHED = 1_000;
const MOST_FOLLOWED = 10_000;
/** Some keywords need another one beside them, and these decide in ways that depend on the whole schema. */
const NOT_QUICK = ["unevaluatedProperties", "unevaluatedItems", "additionalItems", "$anchor"];

/**
 * Makes a check of JSON values that costs little: functions that are put together once, and that neither explain nor watch
 * the clock. Throws `UnusableSchema` for a schema that no value can be checked against.
 */
export function compileQuickCheck(schema: object): (value: unknown) => QuickResult {
  const { root, draft, references } = prepareSchema(schema);
  for (const { $ref } of references) requireInside($ref, root);
  const compiler = new QuickCompiler(root, draft === "7");
  const check = compiler.compile();
  return (value) => {
    compiler.followed = 0;
    try {
      return check(value) ? "valid" : "invalid";
    } catch (error) {
      // A schema can refer to itself without an end, and a value can be nested deeper than the stack.
      if (error === UNSURE || error instanceof RangeError) return "unsure";
      throw error;
    }
  };
}

/** Nothing is fetched. A name that is not a pointer can be that of a part with an `$id` or `$anchor`. */
function requireInside($ref: unknown, root: CleanSchema): void {
  const reference = String($ref);
  const isPointer = reference === "#" || reference.startsWith("#/");
  if (isPointer ? referenced(reference, root) !== undefined : /"\$(?:id|anchor)":/.test(JSON.stringify(root))) return;
  throw new UnusableSchema(
    `it refers to ${JSON.stringify(reference)}, which is not part of it; external schemas are not loaded`,
  );
}

class QuickCompiler {
  /** How many references the check of one value has followed: through them alone it can take long. */
  followed = 0;
  readonly #root: CleanSchema;
  /** In draft-07, nothing beside `$ref` counts. */
  readonly #refStandsAlone: boolean;
  readonly #compiled = new Map<CleanSchema, { check: Check }>();

  constructor(root: CleanSchema, refStandsAlone: boolean) {
    this.#root = root;
    this.#refStandsAlone = refStandsAlone;
  }

  compile(): Check {
    try {
      return this.#of(this.#root);
    } catch (error) {
      if (error === UNSURE) return unsure;
      throw error;
    }
  }

  /** A schema that is being compiled is found through its holder by the references inside it. */
  #of(schema: unknown): Check {
    if (!isRecord(schema)) throw UNSURE;
    const known = this.#compiled.get(schema);
    if (known) return (value) => known.check(value);
    const holder = { check: unsure };
    this.#compiled.set(schema, holder);
    holder.check = this.#checkOf(schema);
    return holder.check;
  }

  #checkOf(schema: CleanSchema): Check {
    const isOdd = NOT_QUICK.some((keyword) => schema[keyword] !== undefined) || Array.isArray(schema["items"]);
    if (isOdd || (schema["$id"] !== undefined && schema !== this.#root)) throw UNSURE;
    const reference = schema["$ref"];
    const target = typeof reference === "string" ? [this.#following(referenced(reference, this.#root))] : [];
    if (target.length > 0 && this.#refStandsAlone) return all(target);
    return all([
      ...target,
      ...valueChecks(schema),
      ...this.#objectChecks(schema),
      ...this.#arrayChecks(schema),
      ...this.#applied(schema),
    ]);
  }

  #following(schema: unknown): Check {
    const check = this.#of(schema);
    return (value) => {
      if (++this.followed > MOST_FOLLOWED) throw UNSURE;
      return check(value);
    };
  }

  #list(schemas: unknown): Check[] {
    return Array.isArray(schemas) ? schemas.map((each) => this.#of(each)) : [];
  }

  #map(schemas: unknown): [name: string, check: Check][] {
    return isRecord(schemas) ? Object.entries(schemas).map(([name, each]) => [name, this.#of(each)]) : [];
  }

  #optional(schema: unknown): Check | undefined {
    return schema === undefined ? undefined : this.#of(schema);
  }

  #applied(schema: CleanSchema): Check[] {
    const { not, if: condition } = schema;
    const found = this.#list(schema["allOf"]);
    const any = this.#list(schema["anyOf"]);
    if (any.length > 0) found.push((value) => any.some((check) => check(value)));
    const one = this.#list(schema["oneOf"]);
    if (one.length > 0) found.push((value) => one.filter((check) => check(value)).length === 1);
    const forbidden = this.#optional(not);
    if (forbidden) found.push((value) => !forbidden(value));
    const test = this.#optional(condition);
    if (test) {
      const then = this.#optional(schema["then"]) ?? accept;
      const otherwise = this.#optional(schema["else"]) ?? accept;
      found.push((value) => (test(value) ? then(value) : otherwise(value)));
    }
    return found;
  }

  #objectChecks(schema: CleanSchema): Check[] {
    const { required, minProperties: min = 0, maxProperties: max = Infinity } = schema;
    const found: Check<Record<string, unknown>>[] = [];
    const needed = (required ?? []) as string[];
    if (needed.length > 0) found.push((value) => needed.every((name) => Object.hasOwn(value, name)));
    found.push(...this.#memberChecks(schema));
    const names = this.#optional(schema["propertyNames"]);
    if (names) found.push((value) => Object.keys(value).every(names));
    if (min !== 0 || max !== Infinity) {
      found.push((value) => isBetween(Object.keys(value).length, min as number, max as number));
    }
    for (const [name, others] of Object.entries((schema["dependentRequired"] ?? {}) as Record<string, string[]>)) {
      found.push((value) => !Object.hasOwn(value, name) || others.every((other) => Object.hasOwn(value, other)));
    }
    for (const [name, check] of this.#map(schema["dependentSchemas"])) {
      found.push((value) => !Object.hasOwn(value, name) || check(value));
    }
    const check = all(found);
    return found.length === 0 ? [] : [(value) => !isRecord(value) || check(value)];
  }

  #memberChecks(schema: CleanSchema): Check<Record<string, unknown>>[] {
    const properties = this.#map(schema["properties"]);
    const patterns = this.#map(schema["patternProperties"]).map(([source, check]) => ({ is: matcher(source), check }));
    const others = this.#optional(schema["additionalProperties"]);
    if (patterns.length === 0 && !others) {
      if (properties.length === 0) return [];
      return [(value) => properties.every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]))];
    }
    const known = new Map(properties);
    const checkOf = (name: string) => {
      const own = known.get(name);
      if (patterns.length === 0) return own ?? others;
      const found = [...(own ? [own] : []), ...patterns.flatMap(({ is, check }) => (is(name) ? [check] : []))];
      return found.length === 0 ? others : all(found);
    };
    return [(value) => everyMember(value, checkOf)];
  }

  #arrayChecks(schema: CleanSchema): Check[] {
    const { minItems = 0, maxItems = Infinity, uniqueItems } = schema;
    const found: Check<unknown[]>[] = [];
    if (minItems !== 0 || maxItems !== Infinity) {
      found.push((value) => isBetween(value.length, minItems as number, maxItems as number));
    }
    const first = this.#list(schema["prefixItems"]);
    const rest = this.#optional(schema["items"]);
    if (first.length > 0) found.push((value) => first.every((check, at) => at >= value.length || check(value[at])));
    if (rest) found.push((value) => value.every((item, at) => at < first.length || rest(item)));
    const contained = this.#optional(schema["contains"]);
    if (contained) {
      const { minContains: least = 1, maxContains: most = Infinity } = schema;
      found.push((value) => isBetween(value.filter((item) => contained(item)).length, least as number, most as number));
    }
    if (uniqueItems === true) found.push((value) => new Set(value.map(canonicalJson)).size === value.length);
    const check = all(found);
    return found.length === 0 ? [] : [(value) => !Array.isArray(value) || check(value)];
  }
}

function everyMember(value: Record<string, unknown>, checkOf: (name: string) => Check | undefined): boolean {
  return Object.keys(value).every((name) => checkOf(name)?.(value[name]) ?? true);
}

const accept: Check = () => true;
const unsure: Check = () => {
  throw UNSURE;
};

function all<T>(checks: readonly Check<T>[]): Check<T> {
  const [first = accept, second, ...more] = checks;
  if (!second) return first;
  if (more.length === 0) return (value) => first(value) && second(value);
  return (value) => checks.every((check) => check(value));
}

function isBetween(count: number, least: number, most: number): boolean {
  return count >= least && count <= most;
}

const TYPES: Readonly<Record<string, Check>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isRecord,
};

/** What concerns the value itself: its type, its values, numbers and texts. */
function valueChecks(schema: CleanSchema): Check[] {
  const { type, enum: values, const: only } = schema;
  const found: Check[] = [];
  if (type !== undefined) {
    const checks = ([type].flat() as string[]).map((name) => TYPES[name] ?? unsure);
    found.push(checks.length === 1 ? all(checks) : (value) => checks.some((check) => check(value)));
  }
  if (Array.isArray(values)) found.push(isOneOf(values));
  if (only !== undefined) found.push(isOneOf([only]));
  return [...found, ...numberChecks(schema), ...textChecks(schema)];
}

function isOneOf(values: readonly unknown[]): Check {
  const primitive = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const others = new Set(values.filter((value) => !primitive.has(value)).map(canonicalJson));
  return (value) =>
    primitive.has(value) || (others.size > 0 && typeof value === "object" && others.has(canonicalJson(value)));
}

const NUMBERS: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  minimum: (value, limit) => value >= limit,
  maximum: (value, limit) => value <= limit,
  exclusiveMinimum: (value, limit) => value > limit,
  exclusiveMaximum: (value, limit) => value < limit,
  multipleOf: (value, limit) => Number.isInteger(value / limit),
};

function numberChecks(schema: CleanSchema): Check[] {
  return Object.entries(NUMBERS).flatMap(([keyword, isRight]) => {
    const limit = schema[keyword];
    if (typeof limit !== "number") return [];
    return [(value: unknown) => typeof value !== "number" || isRight(value, limit)];
  });
}

function textChecks({ minLength = 0, maxLength = Infinity, pattern }: CleanSchema): Check[] {
  const found: Check<string>[] = [];
  if (minLength !== 0 || maxLength !== Infinity) {
    const [least, most] = [minLength as number, maxLength as number];
    // A character has one unit or two, so that most texts need not be counted.
    const isSurely = (value: string) => value.length <= most && value.length >= 2 * least;
    found.push((value) => isSurely(value) || isBetween(characters(value), least, most));
  }
  if (typeof pattern === "string") found.push(matcher(pattern));
  return found.map((check) => (value) => typeof value !== "string" || check(value));
}

/** Pairs of surrogates are one character. */
function characters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.codePointAt(at) ?? 0) <= 0xffff) continue;
    count--;
    at++;
  }
  return count;
}

/** Callers choose the text. Where a pattern could try very many ways to match it, the other validator stops it in time. */
function matcher(source: string): (text: string) => boolean {
  const unbounded = source.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0;
  if (unbounded > 2 || /\)[*+{]|\\[1-9k]/.test(source)) throw UNSURE;
  const pattern = new RegExp(source, "u");
  return (text) => {
    if (text.length > LONGEST_MATCHED) throw UNSURE;
    return pattern.test(text);
  };
}
