import { createContext, Script } from "node:vm";
import { dereference, validate } from "@cfworker/json-schema";
import { prepareSchema, UnusableSchema, type CleanSchema } from "./preparation.ts";
import {
  explain,
  explainMismatch,
  findingAt,
  mergeExpected,
  type SchemaProblem,
  type SchemaFinding,
} from "./explain.ts";
import { locateValue, type SchemaLocation } from "./location.ts";
import { fragmentParts } from "./pointer.ts";

const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const REST = new Set(["additionalProperties", "unevaluatedProperties"]);

/** The result of checking a value against a schema. */
export type SchemaCheck =
  | { kind: "valid" }
  /** The first fifty problems. */
  | { kind: "invalid"; problems: SchemaProblem[] }
  /** Nothing was checked: the dialect is unknown, the schema refers to an external schema, something is too large, … */
  | { kind: "unusable"; reason: string; /** Checking takes too long, so that it is not tried again. */ isSlow?: true };

/** `maxMs`: how long it may take; default: 3 seconds. Watching the clock takes a millisecond: with Infinity it does not. */
export type SchemaValidator = (value: unknown, maxMs?: number) => SchemaCheck;

const MAX_PROBLEMS = 50;
/** Maximum number of validator errors that are read to find them. */
const MAX_ERRORS = 5_000;
/** Patterns and references of a hostile schema can run for years. */
const MAX_MS = 3_000;
/** On a busy machine, time passes without CPU time. That is not the schema's fault, so it is tried once more. */
const BUSY = { share: 0.5, patience: 3 };

/** The validator is loaded with the first value. After one check that took too long, it checks nothing more. Neither compiling nor validating throws. */
export function compileSchema(schema: object): SchemaValidator {
  try {
    const { root, draft, references } = prepareSchema(schema);
    const lookup = dereference(root) as Record<string, CleanSchema>;
    requireLocal(references, lookup);
    let slow: SchemaCheck | undefined;
    return (value, maxMs = MAX_MS) => {
      if (slow) return slow;
      const run = (stopEarly: boolean): SchemaProblem[] | undefined => {
        const { valid, errors } = validate(value, root, draft, lookup, stopEarly);
        return valid ? undefined : problemsIn(errors.slice(0, MAX_ERRORS), { root, lookup, value });
      };
      try {
        const problems = runBounded(run, maxMs);
        return problems ? { kind: "invalid", problems: problems.slice(0, MAX_PROBLEMS) } : { kind: "valid" };
      } catch (error) {
        if (!isTimeout(error)) return unusable(error);
        slow = {
          kind: "unusable",
          reason: `the schema cannot be used: checking took longer than ${maxMs} ms`,
          isSlow: true,
        };
        return slow;
      }
    };
  } catch (error) {
    return () => unusable(error);
  }
}

/** The validator knows only what is inside the schema; anything else would have to be fetched. */
function requireLocal(references: readonly CleanSchema[], lookup: Record<string, CleanSchema>): void {
  for (const { $ref, __absolute_ref__: uri } of references) {
    if (typeof uri === "string" && lookup[uri] !== undefined) continue;
    throw new UnusableSchema(
      `it refers to ${JSON.stringify($ref)}, which is not part of it; external schemas are not loaded`,
    );
  }
}

const script = new Script("run()");

/** The timeout of a script is the only way to stop a synchronous computation such as a regular expression. */
function runBounded<T>(run: (stopEarly: boolean) => T, maxMs: number): T {
  if (maxMs === Infinity) return run(false);
  const context = createContext({});
  const runFor = (task: () => T, timeout: number) => {
    context["run"] = task;
    try {
      return script.runInContext(context, { timeout }) as T;
    } finally {
      delete context["run"];
    }
  };
  const within = (task: () => T) => {
    const before = process.cpuUsage();
    try {
      return runFor(task, maxMs);
    } catch (error) {
      const { user, system } = process.cpuUsage(before);
      if (!isTimeout(error) || (user + system) / 1000 > maxMs * BUSY.share) throw error;
      return runFor(task, maxMs * BUSY.patience);
    }
  };
  try {
    return within(() => run(false));
  } catch (error) {
    // More errors than the validator can return; the first of each kind are enough.
    if (error instanceof RangeError) return within(() => run(true));
    throw error;
  }
}

function unusable(error: unknown): SchemaCheck {
  return { kind: "unusable", reason: `the schema cannot be used: ${reasonOf(error)}` };
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return "it refers to itself in an endless loop";
  return String((error as { message?: unknown }).message);
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

/** Converts the validator's output to problems. It reports every step on the way; only the last one is the problem. */
function problemsIn(units: readonly OutputUnit[], run: ValidatorRun): SchemaProblem[] {
  const seen = new Set<string>();
  const problems = findingsIn(units, run)
    .map(({ path, message }) => ({ path, message }))
    .filter(({ path, message }) => !seen.has(`${path} ${message}`) && seen.add(`${path} ${message}`));
  return problems.length > 0 ? problems : [{ path: "", message: "the value does not match the schema" }];
}

function findingsIn(units: readonly OutputUnit[], run: ValidatorRun): SchemaFinding[] {
  const findings: SchemaFinding[] = [];
  for (let index = 0; index < units.length;) {
    const unit = units[index++];
    if (!unit) break;
    if (unit.keyword === "anyOf" || unit.keyword === "oneOf") {
      const start = index;
      while (index < units.length && isInside(units[index], unit)) index++;
      findings.push(...alternatives(unit, units.slice(start, index), run));
    } else {
      findings.push(...explain(unit.keyword, locationOf(unit, run)));
    }
  }
  return findings;
}

function isInside(unit: OutputUnit | undefined, outer: OutputUnit): boolean {
  if (!unit?.keywordLocation.startsWith(`${outer.keywordLocation}/`)) return false;
  return (
    unit.instanceLocation === outer.instanceLocation || unit.instanceLocation.startsWith(`${outer.instanceLocation}/`)
  );
}

/** If all alternatives failed, explains the one that was probably meant. */
function alternatives(unit: OutputUnit, inner: readonly OutputUnit[], run: ValidatorRun): SchemaFinding[] {
  const location = locationOf(unit, run);
  const count = (location.schema[unit.keyword] as unknown[]).length;
  const groups = Array.from({ length: count }, (_, index) => {
    const keyword = `${unit.keywordLocation}/${index}`;
    const own = inner.filter(({ keywordLocation }) => `${keywordLocation}/`.startsWith(`${keyword}/`));
    return findingsIn(own, run);
  });
  const matches = groups.filter((group) => group.length === 0).length;
  if (matches > 0) return [findingAt(location, `matches ${matches} of ${count} alternatives, must match exactly one`)];

  const here = groups.map((group) => group.find(({ path, expected }) => path === location.path && expected));
  if (here.every((found) => found !== undefined)) {
    return [explainMismatch(location, mergeExpected(here.flatMap(({ expected }) => expected ?? [])))];
  }
  const [best, second] = groups
    .map((group, index) => ({ group, weight: here[index] ? Infinity : weightOf(group) }))
    .sort((a, b) => a.weight - b.weight);
  if (best && best.weight !== second?.weight) return best.group;
  const hint = best?.group[0] ? ` (for example: ${best.group[0].message})` : "";
  return [findingAt(location, `matches none of the ${count} alternatives${hint}`)];
}

/** A wrong `kind: "circle"` rules out an alternative more than any number of missing members. */
function weightOf(findings: readonly SchemaFinding[]): number {
  return findings.reduce((weight, { expected }) => weight + (expected ? 100 : 1), 0);
}

/** A failed keyword and its place, as the validator reports it. */
interface OutputUnit {
  keyword: string;
  keywordLocation: string;
  instanceLocation: string;
}

/** The validator reports both as pointers; the one into the schema has to be followed through `$ref`. */
function locationOf({ keywordLocation, instanceLocation }: OutputUnit, run: ValidatorRun): SchemaLocation {
  const found = locateValue(fragmentParts(instanceLocation), run.value);
  const { schema, owner, isName, isCandidate } = walkSchema(fragmentParts(keywordLocation).slice(0, -1), run);
  const not = schema["not"];
  return {
    ...found,
    value: isName ? found.segments.at(-1) : found.value,
    schema,
    owner,
    isName,
    isCandidate,
    isForbidden: typeof not === "object" && not !== null && Object.keys(not).length === 0,
  };
}

function walkSchema(path: readonly string[], { root, lookup }: ValidatorRun) {
  let node: unknown = root;
  let owner: CleanSchema | undefined;
  let isName = false;
  let isCandidate = false;
  let isKey = false;
  for (const part of path) {
    const schema = node as CleanSchema;
    if (!isKey && part === "$ref") {
      node = lookup[String(schema["__absolute_ref__"])] ?? {};
      continue;
    }
    node = Object.hasOwn(schema, part) ? schema[part] : {};
    owner = !isKey && REST.has(part) ? schema : undefined;
    if (!isKey && part === "propertyNames") isName = true;
    if (!isKey && part === "contains") isCandidate = true;
    isKey = !isKey && (MAPS.has(part) || Array.isArray(node));
  }
  return { schema: node as CleanSchema, owner, isName, isCandidate };
}

/** One run of the validator: the schema, its subschemas by URI, and the value. */
interface ValidatorRun {
  root: CleanSchema;
  lookup: Record<string, CleanSchema>;
  value: unknown;
}
