import { NexusError } from "../../errors/nexus-error.ts";
import { checkedSchema, SOURCE_PAYLOAD } from "../compile/json-schema.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { ArgumentPatterns } from "./argument-patterns.ts";
import { ArgumentValidator } from "./argument-validator.ts";
import { Completion } from "./completion.ts";
import { inexactNumbers } from "./inexact-numbers.ts";
import { rulesFor } from "./rules.ts";
import { argumentProblems, type ArgumentProblem } from "./argument-problem.ts";

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
