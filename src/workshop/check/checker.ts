import { NexusError } from "../../errors/nexus-error.ts";
import { checkedSchema, SOURCE_PAYLOAD } from "../compile/json-schema.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { ArgumentPatterns } from "./argument-patterns.ts";
import { ArgumentValidator } from "./argument-validator.ts";
import { Completion } from "./completion.ts";
import { inexactNumbers } from "./inexact-numbers.ts";
import { rulesFor } from "./rules.ts";
import { argumentProblems } from "./argument-problem.ts";

/** The arguments with defaults, and all problems, each with the name of its argument. */
export interface Checked {
  value: Record<string, unknown>;
  problems: string[];
  /** Whether all problems are inside an argument, not with the argument names themselves. */
  isOnlyInside?: boolean;
}

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
    patterns.renew();
    const errors = validator.errorsOf(value);
    const inexact = inexactNumbers(file, spec.input, value);
    const found =
      errors.length === 0
        ? inexact
        : errors
            .filter(({ keyword }) => !(patterns.isExceeded && keyword === "pattern"))
            .flatMap((error) => argumentProblems(error, value))
            .concat(inexact);
    const rules = judge(value, (path) => found.some(({ name }) => isAtOrIn(name, path)));
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

/** Whether a problem is about the field at `path` or something inside it. */
function isAtOrIn(problem: string, path: string): boolean {
  return problem === path || problem.startsWith(`${path}.`) || problem.startsWith(`${path}[`);
}

function shortened(problems: string[]): string[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), `and ${problems.length - MOST_PROBLEMS} more`];
}
