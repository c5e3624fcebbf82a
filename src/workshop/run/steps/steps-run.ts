import { throwIfAborted, type CancelSignal } from "../../../async/cancellation.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import { isTrue } from "../../expression/arithmetic.ts";
import { listOf, evaluate } from "../../expression/evaluate.ts";
import { fillTemplate } from "../../expression/fill.ts";
import type { CallTrace } from "../call-trace.ts";
import { Failure } from "../failure.ts";
import type { RunnerParts } from "../runner-parts.ts";
import { unpackValue } from "../apart/read-apart.ts";
import { StepValues } from "./step-values.ts";
import { StepCaller, type StepCall, type StepCallOutcome } from "./step-call.ts";
import type { PlannedStep, StepsPlan } from "./steps-plan.ts";

type Value = Record<string, unknown>;

/** How a run ended; `failure` if it stopped at a step. */
export interface StepsEnd {
  values: StepValues;
  reports: StepReport[];
  deviations: Record<string, string>[];
  stopped?: { step: string; failure: Failure; id?: string | undefined };
}

interface StepsRunOptions {
  input: Value;
  /** The key of the whole call. */
  id: string;
  signal: CancelSignal | undefined;
  trace: CallTrace;
}

/** The share of the progress before the result is made. */
const STEPS_SHARE = 0.95;

/** One run of a tool with steps. */
export class StepsRun {
  readonly #parts: RunnerParts;
  readonly #plan: StepsPlan;
  readonly #options: StepsRunOptions;
  readonly #caller: StepCaller;
  readonly #deadline: number;
  readonly #end: StepsEnd;
  /** Steps that a person confirmed: their answers are not known. */
  readonly #unanswered = new Set<string>();

  constructor(parts: RunnerParts, plan: StepsPlan, options: StepsRunOptions) {
    this.#parts = parts;
    this.#plan = plan;
    this.#options = options;
    const { id, signal, input } = options;
    this.#caller = new StepCaller(parts, { tool: plan.name, id, signal });
    this.#deadline = parts.now() + plan.spec.limits.timeoutMs;
    const reports = plan.steps.map(({ name: step, plan: { name: call }, isWrite }): StepReport => {
      return { step, call, isWrite, state: "not done" };
    });
    this.#end = { values: new StepValues({ settings: parts.settings, input }), reports, deviations: [] };
  }

  async run(): Promise<StepsEnd> {
    const tooMany = this.#tooManyItems();
    if (tooMany) return this.#stop(tooMany);
    for (const [index, step] of this.#plan.steps.entries()) {
      const report = this.#end.reports[index];
      if (!report) break;
      this.#requireRunning();
      this.#options.trace.reached((STEPS_SHARE * index) / this.#plan.steps.length, this.#progressText(step, index));
      const stopped = await this.#step(step, report, index);
      this.#options.trace.note(stopped ? "warn" : "info", `Step ${step.name}: ${report.state}`, { ...report });
      if (stopped) return this.#stop(stopped);
    }
    return this.#end;
  }

  #stop(stopped: NonNullable<StepsEnd["stopped"]>): StepsEnd {
    return { ...this.#end, stopped };
  }

  /** Lists that are known from the start are counted before anything is sent. */
  #tooManyItems(): StepsEnd["stopped"] {
    const known = this.#plan.steps.find((step) => step.each?.isFromInput && this.#itemsOf(step).length > step.each.max);
    return known && { step: known.name, failure: this.#tooLong(known) };
  }

  async #step(step: PlannedStep, report: StepReport, index: number): Promise<StepsEnd["stopped"]> {
    const { name } = step;
    const stop = (failure: Failure, id?: string) => ({ step: name, failure, id });
    if (this.#parts.now() >= this.#deadline) return stop(this.#outOfTime());
    const gap = [...step.uses].find((used) => this.#unanswered.has(used));
    if (gap !== undefined) return stop(unanswered(gap));
    const { values } = this.#end;
    if (step.when && !isTrue(evaluate(step.when, this.#scope(step)))) {
      report.state = "not needed";
      values.begin(name, false);
      return undefined;
    }
    if (step.each && this.#itemsOf(step).length > step.each.max) return stop(this.#tooLong(step));
    const calls = this.#callsOf(step, index);
    if (step.each) {
      report.items = { done: 0, of: calls.length };
      if (calls.length === 0) report.state = "done";
      const refused = await this.#refusedItem(step, calls);
      if (refused) return stop(refused);
    }
    values.begin(name, step.each !== undefined);
    for (const call of calls) {
      this.#requireRunning();
      if (this.#parts.now() >= this.#deadline) return stop(this.#outOfTime());
      const outcome = await this.#made(step, call);
      takeOutcome(report, outcome);
      if (outcome.kind !== "done") return stop(outcome.failure, outcome.kind === "unknown" ? outcome.id : undefined);
      if (outcome.value.value === null) this.#unanswered.add(name);
      this.#end.deviations.push(...outcome.deviations);
      values.add(name, outcome.value);
    }
    return undefined;
  }

  /** What the expressions of a step see. */
  #scope({ sees }: PlannedStep): Value {
    return this.#end.values.scope(sees);
  }

  async #made(step: PlannedStep, call: StepCall): Promise<StepCallOutcome> {
    if (step.isWrite) return (await this.#caller.earlier(call)) ?? this.#caller.write(call);
    return step.until ? this.#polled(step, step.until, call) : this.#caller.read(call);
  }

  /** Reads again until the condition is true. The number of reads is limited, whatever the clock says. */
  async #polled(step: PlannedStep, until: NonNullable<PlannedStep["until"]>, call: StepCall): Promise<StepCallOutcome> {
    const { now, pause } = this.#parts;
    const { that, everyMs, atMostMs } = until;
    const end = Math.min(this.#deadline, now() + atMostMs);
    const most = Math.floor(atMostMs / everyMs) + 1;
    for (let count = 1; ; count++) {
      const outcome = await this.#caller.read({ ...call, timeoutMs: Math.max(1, end - now()) });
      if (outcome.kind !== "done") return outcome;
      const answer = outcome.value.kind === "value" ? (outcome.value.value ?? {}) : unpackValue(outcome.value);
      const scope = this.#scope(step);
      const { input, settings } = scope;
      if (isTrue(evaluate(that, { ...scope, ...answer, answer, input, settings }))) return outcome;
      if (count >= most || now() + everyMs > end) {
        const failure = new Failure(`It was not finished after ${atMostMs / 1_000} s.`, {
          hint: "Make the same call again later.",
          outcome: "refused",
        });
        return { kind: "failed", failure };
      }
      call.trace.note("debug", "Not finished yet", { count });
      await pause(everyMs, this.#options.signal);
      this.#requireRunning();
    }
  }

  /** All items are checked before the first is sent, except those that were sent before. */
  async #refusedItem(step: PlannedStep, calls: readonly StepCall[]): Promise<Failure | undefined> {
    for (const call of calls) {
      if (step.isWrite && (await this.#caller.earlier(call))) continue;
      const refused = this.#caller.refused(call);
      if (refused) return new Failure(`Item ${(call.index ?? 0) + 1}: ${refused.text}`, refused);
    }
    return undefined;
  }

  #callsOf(step: PlannedStep, position: number): StepCall[] {
    const { plan, name, each } = step;
    const count = this.#plan.steps.length;
    const items: readonly unknown[] = each ? this.#itemsOf(step) : [undefined];
    const seen = this.#scope(step);
    return items.map((item, index) => {
      const scope = each ? { ...seen, [each.as]: item } : seen;
      const at = (part: number) => (STEPS_SHARE * (position + part / items.length)) / count;
      const about = each ? { step: name, item: index + 1 } : { step: name };
      return {
        plan,
        step: name,
        index: each ? index : undefined,
        arguments: fillTemplate(step.arguments, scope) as Value,
        trace: this.#options.trace.part(at(index), at(index + 1), about),
        timeoutMs: Math.max(1, this.#deadline - this.#parts.now()),
      };
    });
  }

  #itemsOf(step: PlannedStep): readonly unknown[] {
    return step.each ? listOf(evaluate(step.each.list, this.#scope(step))) : [];
  }

  #progressText({ name }: PlannedStep, index: number): string {
    return `Step ${index + 1} of ${this.#plan.steps.length}: ${name}`;
  }

  /** Between two calls the run can end; a write that is being sent is completed first. */
  #requireRunning(): void {
    const { signal, trace } = this.#options;
    if (signal?.aborted) {
      const steps = this.#end.reports.map(({ step, state }) => `${step}: ${state}`);
      trace.note("info", "The call was cancelled between two steps", { steps });
    }
    throwIfAborted(signal);
    if (!this.#parts.closing.aborted) return;
    throw new NexusError("CLOSED", "This server was closed meanwhile", { mayHaveReached: false });
  }

  #tooLong(step: PlannedStep): Failure {
    const text = `There are ${this.#itemsOf(step).length} items, and at most ${step.each?.max ?? 0} are allowed in one call.`;
    return new Failure(text, { hint: "Make several calls with fewer items.", outcome: "refused" });
  }

  #outOfTime(): Failure {
    const seconds = this.#plan.spec.limits.timeoutMs / 1_000;
    return new Failure(`The time limit of ${seconds} s for all steps is reached.`, { outcome: "refused" });
  }
}

function unanswered(step: string): Failure {
  return new Failure(`It needs the answer of the step ${step}, which a person confirmed: that answer is not known.`, {
    hint: "Do the remaining steps with other tools or by hand.",
    outcome: "refused",
  });
}

/** Takes one outcome into the report of its step. */
function takeOutcome(report: StepReport, outcome: StepCallOutcome): void {
  if (outcome.kind !== "done") {
    report.state = outcome.kind;
    if (outcome.kind === "unknown") report.id = outcome.id;
    return;
  }
  if (outcome.earlier) report.earlier = true;
  if (report.items) report.items.done += 1;
  if (!report.items || report.items.done === report.items.of) report.state = "done";
}

/** What became of one step, for callers and logs. */
export interface StepReport {
  step: string;
  call: string;
  isWrite: boolean;
  state: "done" | "not needed" | "failed" | "running" | "unknown" | "not done";
  /** Of a step for each item of a list. */
  items?: { done: number; of: number };
  /** Whether an earlier run of the same call did it, or a part of it. */
  earlier?: true;
  /** The id of a write with unknown outcome. */
  id?: string;
}
