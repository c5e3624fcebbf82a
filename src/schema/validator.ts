import { createContext, Script } from "node:vm";
import { dereference, validate } from "@cfworker/json-schema";
import { prepareSchema, UnusableSchema, type CleanSchema } from "./preparation.ts";
import type { SchemaProblem } from "./explain.ts";
import { problemsIn } from "./problems.ts";

/** The result of checking a value against a schema. */
export type SchemaCheck =
  | { kind: "valid" }
  /** The first fifty problems. */
  | { kind: "invalid"; problems: SchemaProblem[] }
  /** Nothing was checked: the dialect is unknown, the schema refers to an external schema, something is too large, … */
  | { kind: "unusable"; reason: string; /** Checking takes too long, so that it is not tried again. */ isSlow?: true };

/** `maxMs`: how long it may take; default: 3 seconds. */
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
