import { isDateTime } from "../expression/calendar.ts";
import { clockFunctions, type ClockFunctions } from "../expression/clock.ts";
import type { Expression } from "../expression/expression.ts";
import { evaluate } from "../expression/evaluate.ts";
import { namesIn } from "../expression/names.ts";
import { parseExpression } from "../expression/parse.ts";
import type { ToolFile } from "../file/model/tool-file.ts";

type Fields = Record<string, unknown>;

export interface RuleProblem {
  /** The record that breaks the rule: `rooms[0]`; empty for the whole value. */
  path: string;
  say: string;
}

interface TypeRules {
  rules: { expression: Expression; names: string[]; say: string }[];
  /** JSON Schema has no format for times without a zone, so their existence is checked here. */
  moments: string[];
  inner: [field: string, rules: TypeRules][];
}

/** The broken rules of a value, including those of all types inside it. For one value; use `rulesFor` for several. */
export function checkRules(file: ToolFile, type: string, value: Fields): string[] {
  return rulesFor(file, type)(value).map(({ path, say }) => (path === "" ? say : `${path}: ${say}`));
}

/**
 * Prepares the rules of a type. A rule is not checked while a field that it names is absent or already `wrong`, because
 * its message would not help.
 */
export function rulesFor(
  file: ToolFile,
  type: string,
  now: () => number = Date.now,
): (value: Fields, wrong?: (path: string) => boolean) => RuleProblem[] {
  const rules = compile(file, type, new Map());
  const clock = clockFunctions(now);
  return (value, wrong = () => false) => {
    const problems: RuleProblem[] = [];
    judge(rules, value, { path: "", wrong, problems, clock });
    return problems;
  };
}

function compile(file: ToolFile, name: string, known: Map<string, TypeRules>): TypeRules {
  const done = known.get(name);
  if (done) return done;
  const compiled: TypeRules = { rules: [], moments: [], inner: [] };
  known.set(name, compiled);
  const { rules = [], fields = {} } = file.types[name] ?? {};
  for (const { that, say } of rules) {
    const expression = parseExpression(that);
    compiled.rules.push({ expression, names: namesIn(expression), say });
  }
  for (const [field, { shape }] of Object.entries(fields)) {
    const of = shape.kind === "list" ? shape.of : shape;
    if (of.kind === "object") compiled.inner.push([field, compile(file, of.type, known)]);
    else if (of.kind === "scalar" && of.type === "datetime" && of.codes === undefined) compiled.moments.push(field);
  }
  return compiled;
}

interface Judging {
  path: string;
  wrong: (path: string) => boolean;
  problems: RuleProblem[];
  clock: ClockFunctions;
}

function judge(rules: TypeRules, value: unknown, judging: Judging): void {
  const { path, wrong, problems, clock } = judging;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const fields = value as Fields;
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const has = (name: string) => Object.hasOwn(fields, name) && fields[name] !== undefined && fields[name] !== null;
  for (const { expression, names, say } of rules.rules) {
    if (!names.every((name) => has(name) && !wrong(at(name)))) continue;
    if (evaluate(expression, fields, clock) === false) problems.push({ path, say });
  }
  for (const name of rules.moments) {
    if (has(name) && !wrong(at(name))) checkMoments(fields[name], at(name), problems);
  }
  for (const [field, inner] of rules.inner) {
    const held = has(field) ? fields[field] : undefined;
    if (!Array.isArray(held)) judge(inner, held, { ...judging, path: at(field) });
    else for (const [index, item] of held.entries()) judge(inner, item, { ...judging, path: `${at(field)}[${index}]` });
  }
}

function checkMoments(value: unknown, path: string, problems: RuleProblem[]): void {
  const isList = Array.isArray(value);
  for (const [index, item] of (isList ? (value as unknown[]) : [value]).entries()) {
    if (typeof item !== "string" || isDateTime(item)) continue;
    problems.push({ path: isList ? `${path}[${index}]` : path, say: "there is no such date and time" });
  }
}
