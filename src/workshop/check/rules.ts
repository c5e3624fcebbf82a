import { AlternativeChooser } from "../codec/union/alternative-chooser.ts";
import { isDateTime } from "../expression/calendar.ts";
import { clockFunctions, type ClockFunctions } from "../expression/clock.ts";
import type { Expression } from "../expression/expression.ts";
import { evaluate } from "../expression/evaluate.ts";
import { namesIn } from "../expression/names.ts";
import { parseExpression } from "../expression/parse.ts";
import type { Shape, ToolFile, UnionShape } from "../file/model/tool-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { findType, findUnion } from "../shape/shape-parts.ts";
import { pathOf, type ValuePlace } from "./value-place.ts";

type Fields = Record<string, unknown>;

export interface RuleProblem {
  /** The record that breaks the rule: `rooms[0]`; empty for the whole value. */
  path: string;
  say: string;
}

interface TypeRules {
  kind: "type";
  rules: { expression: Expression; names: string[]; say: string }[];
  inner: [field: string, rules: InnerRules][];
  /** For further members. */
  further: { fields: ReadonlySet<string>; rules: InnerRules } | undefined;
}

/** `moment`: JSON Schema has no format for times without a zone, so their existence is checked here. */
type InnerRules =
  | TypeRules
  | { kind: "moment" }
  | { kind: "list" | "map"; of: InnerRules }
  | { kind: "union"; union: UnionShape };

interface RuleOptions {
  /** Whether the field at this path is already wrong. */
  wrong?: ((path: string) => boolean) | undefined;
  /** The first so many problems are enough. */
  most?: number | undefined;
}

/**
 * Prepares the rules of a type. A rule is not checked while a field that it names is absent or already `wrong`, because
 * its message would not help.
 */
export function rulesFor(
  file: ToolFile,
  type: string,
  now: () => number = Date.now,
): (value: Fields, options?: RuleOptions) => RuleProblem[] {
  const compiler = new RuleCompiler(file);
  const rules = compiler.type(type);
  const clock = clockFunctions(now);
  return (value, { wrong, most = Infinity } = {}) => {
    const problems: RuleProblem[] = [];
    judge(rules, value, undefined, { wrong, most, problems, clock, compiler });
    return problems;
  };
}

/** Compiles the rules of types, and finds those of alternatives by their values. */
class RuleCompiler {
  readonly #file: ToolFile;
  readonly #chooser: AlternativeChooser;
  readonly #known = new Map<string, TypeRules>();

  constructor(file: ToolFile) {
    this.#file = file;
    this.#chooser = new AlternativeChooser(file.types, "names", "input");
  }

  type(name: string): TypeRules {
    const done = this.#known.get(name);
    if (done) return done;
    const compiled: TypeRules = { kind: "type", rules: [], inner: [], further: undefined };
    this.#known.set(name, compiled);
    const { rules = [], fields = {}, additional } = findType(this.#file, name) ?? {};
    for (const { that, say } of rules) {
      const expression = parseExpression(that);
      compiled.rules.push({ expression, names: namesIn(expression), say });
    }
    for (const [field, { shape }] of Object.entries(fields)) {
      const inner = this.#shape(shape);
      if (inner) compiled.inner.push([field, inner]);
    }
    const further = additional && this.#shape(additional);
    if (further) compiled.further = { fields: new Set(Object.keys(fields)), rules: further };
    return compiled;
  }

  variant(union: UnionShape, value: unknown): InnerRules | undefined {
    const chosen = this.#chooser.choose(union, value);
    return chosen && this.#shape(chosen.shape);
  }

  #shape(shape: Shape): InnerRules | undefined {
    switch (shape.kind) {
      case "object": {
        const union = findUnion(this.#file, shape);
        return union ? { kind: "union", union } : this.type(shape.type);
      }
      case "list":
      case "map": {
        const of = this.#shape(shape.of);
        return of && { kind: shape.kind, of };
      }
      case "union":
        return { kind: "union", union: shape };
      case "scalar":
        return shape.type === "datetime" && shape.codes === undefined ? { kind: "moment" } : undefined;
      case "any":
        return undefined;
    }
  }
}

interface Judging {
  wrong: ((path: string) => boolean) | undefined;
  most: number;
  problems: RuleProblem[];
  clock: ClockFunctions;
  compiler: RuleCompiler;
}

function judge(rules: InnerRules, value: unknown, place: ValuePlace, judging: Judging): void {
  const { problems, wrong } = judging;
  if (problems.length >= judging.most) return;
  if (rules.kind === "union") {
    const variant = judging.compiler.variant(rules.union, value);
    if (variant) judge(variant, value, place, judging);
  } else if (rules.kind === "moment") {
    if (typeof value === "string" && !isDateTime(value) && !wrong?.(pathOf(place))) {
      problems.push({ path: pathOf(place), say: "there is no such date and time" });
    }
  } else if (rules.kind === "list") {
    if (!Array.isArray(value)) return;
    for (let index = 0; index < value.length; index++) {
      judge(rules.of, value[index], { above: place, step: index }, judging);
    }
  } else if (isRecord(value)) {
    if (rules.kind === "type") judgeType(rules, value, place, judging);
    else for (const name of Object.keys(value)) judge(rules.of, value[name], { above: place, step: name }, judging);
  }
}

function judgeType(rules: TypeRules, fields: Fields, place: ValuePlace, judging: Judging): void {
  const { wrong, problems, clock } = judging;
  const has = (name: string) => Object.hasOwn(fields, name) && fields[name] !== undefined && fields[name] !== null;
  const isWrong = (name: string) => wrong?.(pathOf({ above: place, step: name })) ?? false;
  for (const { expression, names, say } of rules.rules) {
    if (!names.every((name) => has(name) && !isWrong(name))) continue;
    if (evaluate(expression, fields, clock) === false) problems.push({ path: pathOf(place), say });
  }
  for (const [field, inner] of rules.inner) {
    if (has(field)) judge(inner, fields[field], { above: place, step: field }, judging);
  }
  const { further } = rules;
  if (!further) return;
  for (const name of Object.keys(fields)) {
    if (!further.fields.has(name)) judge(further.rules, fields[name], { above: place, step: name }, judging);
  }
}
