import { checkerFor, type Checked } from "../../check/checker.ts";
import type { CompiledApi } from "../../compile/compile.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import type { Expression } from "../../expression/expression.ts";
import { expressionIn, repetitionIn } from "../../expression/fill.ts";
import { mentioned } from "../../expression/names.ts";
import { parseExpression } from "../../expression/parse.ts";
import { parseTemplate, type Template } from "../../expression/template.ts";
import type { StepSpec } from "../../file/model/call-spec.ts";
import { requestTools } from "../../file/model/request-tools.ts";
import type { StepsToolSpec } from "../../file/model/tool-file.ts";
import { ToolPlan, type PlanParts } from "../tool-plan.ts";

/** One step, with its expressions parsed. */
export interface PlannedStep {
  name: string;
  plan: ToolPlan;
  arguments: StepSpec["arguments"];
  when: Expression | undefined;
  /** `isFromInput`: the list is known before anything is sent. */
  each: { list: Expression; as: string; max: number; isFromInput: boolean } | undefined;
  until: { that: Expression; everyMs: number; atMostMs: number } | undefined;
  isWrite: boolean;
  /** The names that its expressions use: of earlier steps, and others. */
  uses: ReadonlySet<string>;
}

/** What all calls of one tool with steps share; prepared once. */
export class StepsPlan {
  readonly kind = "steps";
  readonly name: string;
  readonly spec: StepsToolSpec;
  readonly check: (args: unknown) => Checked;
  readonly steps: readonly PlannedStep[];
  readonly text: Template;

  constructor(
    api: CompiledApi,
    name: string,
    spec: StepsToolSpec,
    { plans, now }: { plans: ReadonlyMap<string, ToolPlan>; now: () => number },
  ) {
    this.name = name;
    this.spec = spec;
    this.check = checkerFor(api.file, name, now);
    this.text = parseTemplate(spec.response.text);
    this.steps = Object.entries(spec.steps).map(([step, each]) => plannedStep(step, each, plans));
  }
}

/** The plans of all tools, in the order of the file. */
export function plansOf(api: CompiledApi, parts: PlanParts): Map<string, ToolPlan | StepsPlan> {
  const requests = new Map(requestTools(api.file).map(([name, spec]) => [name, new ToolPlan(api, name, spec, parts)]));
  const all = Object.entries(api.file.tools).flatMap(([name, spec]): [string, ToolPlan | StepsPlan][] => {
    const plan = spec.steps ? new StepsPlan(api, name, spec, { plans: requests, now: parts.now }) : requests.get(name);
    return plan ? [[name, plan]] : [];
  });
  return new Map(all);
}

function plannedStep(name: string, spec: StepSpec, plans: ReadonlyMap<string, ToolPlan>): PlannedStep {
  const plan = plans.get(spec.call);
  if (!plan) throw new NexusError("CONFIG_INVALID", `The step ${name} calls "${spec.call}", and there is no such tool`);
  const { when, each, until } = spec;
  const list = each && parseExpression(each.list);
  const condition = when === undefined ? undefined : parseExpression(when);
  const expressions = [...expressionsIn(spec.arguments), ...[list, condition].filter((one) => one !== undefined)];
  return {
    name,
    plan,
    arguments: spec.arguments,
    when: condition,
    each: each && list && { ...each, list, isFromInput: mentioned(list).every((used) => INPUTS.has(used)) },
    until: until && { ...until, that: parseExpression(until.that) },
    isWrite: plan.spec.effect !== "read",
    uses: new Set(expressions.flatMap(mentioned)),
  };
}

const INPUTS: ReadonlySet<string> = new Set(["input", "settings"]);

/** All expressions of a value that is filled in. */
function expressionsIn(value: unknown): Expression[] {
  const computed = expressionIn(value);
  if (computed !== undefined) return [parseExpression(computed)];
  if (typeof value !== "object" || value === null) return [];
  const { each, when, times } = repetitionIn(value) ?? {};
  const own = [each, when, times].filter((text) => text !== undefined).map(parseExpression);
  return [...own, ...Object.values(value).flatMap(expressionsIn)];
}
