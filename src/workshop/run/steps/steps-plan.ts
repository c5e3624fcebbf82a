import { checkerFor, type Checked } from "../../check/checker.ts";
import type { CompiledApi } from "../../compile/compile.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import type { Expression } from "../../expression/expression.ts";
import { expressionIn, repetitionIn } from "../../expression/fill.ts";
import { mentioned } from "../../expression/names.ts";
import { parseExpression } from "../../expression/parse.ts";
import { namesInTemplate, parseTemplate } from "../../expression/template.ts";
import type { StepSpec, StepsToolSpec } from "../../file/model/tool-file.ts";
import { findRequestTool } from "../../file/model/request-tools.ts";
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
  /** The same with those of `until`, which may also be members of an answer. */
  sees: ReadonlySet<string>;
}

/** What all calls of one tool with steps share; prepared once. */
export class StepsPlan {
  readonly kind = "steps";
  readonly name: string;
  readonly spec: StepsToolSpec;
  readonly check: (args: unknown) => Checked;
  readonly steps: readonly PlannedStep[];
  /** The names that its result uses: of steps, and others. */
  readonly told: ReadonlySet<string>;

  constructor(
    api: CompiledApi,
    name: string,
    spec: StepsToolSpec,
    { planOf, now }: { planOf: PlanOf; now: () => number },
  ) {
    this.name = name;
    this.spec = spec;
    this.check = checkerFor(api.file, name, now);
    const { text, give } = spec.response;
    this.told = new Set([...namesInTemplate(parseTemplate(text)), ...expressionsIn(give).flatMap(mentioned)]);
    this.steps = Object.entries(spec.steps).map(([step, each]) => plannedStep(step, each, planOf));
  }
}

/** The plans of an API's tools. Each is made on first use: an API may have a thousand tools of which few are called. */
export class ToolPlans {
  readonly #api: CompiledApi;
  readonly #parts: PlanParts;
  readonly #plans = new Map<string, ToolPlan | StepsPlan>();

  constructor(api: CompiledApi, parts: PlanParts) {
    this.#api = api;
    this.#parts = parts;
  }

  /** The tools whose plans were made. */
  get made(): string[] {
    return [...this.#plans.keys()];
  }

  /** Undefined if there is no such tool. */
  find(name: string): ToolPlan | StepsPlan | undefined {
    const known = this.#plans.get(name);
    if (known) return known;
    const { tools } = this.#api.file;
    const spec = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (!spec) return undefined;
    const plan = spec.steps
      ? new StepsPlan(this.#api, name, spec, { planOf: (called) => this.#findRequest(called), now: this.#parts.now })
      : new ToolPlan(this.#api, name, spec, this.#parts);
    this.#plans.set(name, plan);
    return plan;
  }

  /** Steps call tools with a request only. */
  #findRequest(name: string): ToolPlan | undefined {
    if (!findRequestTool(this.#api.file, name)) return undefined;
    const plan = this.find(name);
    return plan?.kind === "request" ? plan : undefined;
  }
}

type PlanOf = (name: string) => ToolPlan | undefined;

function plannedStep(name: string, spec: StepSpec, planOf: PlanOf): PlannedStep {
  const plan = planOf(spec.call);
  if (!plan) throw new NexusError("CONFIG_INVALID", `The step ${name} calls "${spec.call}", and there is no such tool`);
  const { when, each, until } = spec;
  const list = each && parseExpression(each.list);
  const condition = when === undefined ? undefined : parseExpression(when);
  const expressions = [...expressionsIn(spec.arguments), ...[list, condition].filter((one) => one !== undefined)];
  const end = until && parseExpression(until.that);
  const uses = new Set(expressions.flatMap(mentioned));
  return {
    name,
    plan,
    arguments: spec.arguments,
    when: condition,
    each: each && list && { ...each, list, isFromInput: mentioned(list).every((used) => INPUTS.has(used)) },
    until: until && end && { ...until, that: end },
    isWrite: plan.spec.effect !== "read",
    uses,
    sees: end ? new Set([...uses, ...mentioned(end)]) : uses,
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
