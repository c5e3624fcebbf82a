import type { CancelSignal } from "../../../async/cancellation.ts";
import { instanceKey } from "../../../auth/server-instance.ts";
import type { CallToolResult } from "../../../protocol/mcp.ts";
import { tellStepsApart } from "../apart/read-apart.ts";
import { failureResult, META_KEYS, withMeta } from "../call-result.ts";
import type { Tracing } from "../call-trace.ts";
import type { Failure } from "../failure.ts";
import type { RunnerParts } from "../runner-parts.ts";
import type { Told } from "../told-answer.ts";
import type { StepReport, StepsEnd } from "./steps-run.ts";
import type { StepsPlan } from "./steps-plan.ts";
import { toldSteps } from "./told-steps.ts";

/** The result of a run, with what became of each step. */
export async function stepsResult(
  parts: RunnerParts,
  plan: StepsPlan,
  end: StepsEnd,
  { caller, settling, signal, trace }: ResultFacts,
): Promise<CallToolResult> {
  const { reports, stopped } = end;
  const meta = { [META_KEYS.steps]: reports };
  if (!stopped) {
    const told = await toldEnd(parts, plan, end, { signal, trace });
    if (told.kind === "failure") {
      const text = [`${plan.name} made all steps, but not its result. ${told.text}`, ...stepLines(reports)].join("\n");
      return withMeta(failureResult({ text, hint: told.again }, parts.hidden), meta);
    }
    for (const [id, content] of told.kept) parts.results.put(instanceKey(parts.instance, caller), id, content);
    return withMeta(told.result, meta);
  }
  const { failure, step, id } = stopped;
  const changed = changedSomething(reports);
  const lines = [`${plan.name} stopped at the step ${step}. ${failure.text}`, ...stepLines(reports)];
  const advice = [
    failure.hint ?? (failure.outcome === "refused" ? failure.again : undefined),
    ...(id === undefined ? [] : settling(id)),
    nextAdvice(reports, changed, plan),
  ];
  const hint = advice.filter((part) => part !== undefined).join("\n");
  return withMeta(failureResult({ text: lines.join("\n"), hint, said: failure.said }, parts.hidden), meta);
}

interface ResultFacts {
  caller: string;
  settling: (id: string) => string[];
  signal: CancelSignal | undefined;
  trace: Tracing;
}

/** The result of steps that were all made. What became of writes is told also when the caller has left. */
function toldEnd(
  parts: RunnerParts,
  plan: StepsPlan,
  { values, reports, deviations }: StepsEnd,
  { signal, trace }: Pick<ResultFacts, "signal" | "trace">,
): Told | Promise<Told | Failure> {
  const earlier = reports.filter((report) => report.earlier).map(({ step }) => step);
  const about = { deviations, earlier };
  const scope = values.packed(plan.told);
  if (!scope) return toldSteps(parts.telling, plan, values.scope(plan.told), about);
  const leaving = plan.spec.effect === "read" ? signal : undefined;
  return tellStepsApart(parts, plan, { ...about, scope, signal: leaving, trace });
}

function stepLines(reports: readonly StepReport[]): string[] {
  return ["What became of the steps:", ...reports.map(reportLine)];
}

function nextAdvice(reports: readonly StepReport[], changed: boolean, { spec }: StepsPlan): string | undefined {
  if (spec.effect === "read") return undefined;
  if (!changed) return "Nothing was changed.";
  if (reports.some(({ state }) => state === "unknown")) {
    return "Until then the same call stops at this step. The steps after it were not sent.";
  }
  return "The same call again goes on from here: what is done is not sent a second time.";
}

/** `- lines: 2 of 3 done, then the outcome of one is not known (id 7KQ…)`. */
function reportLine({ step, call, isWrite, state, items, earlier, id }: StepReport): string {
  const before = earlier ? ", by an earlier run of the same call" : "";
  const part = items ? `${items.done} of ${items.of} done${before}` : "";
  const words = {
    done: items ? part : `done${before}`,
    "not needed": "not needed",
    "not done": "not done",
    failed: isWrite ? "refused, so it was not done" : "failed",
    running: "running in another process",
    unknown: `the outcome is not known${id === undefined ? "" : ` (id ${id})`}`,
  }[state];
  const isStopped = items !== undefined && state !== "done" && state !== "not done";
  return `- ${step} (${call}): ${isStopped ? `${part}, then ${words}` : words}`;
}

/** Whether writes were made or may have been made. */
function changedSomething(reports: readonly StepReport[]): boolean {
  return reports.some(({ isWrite, state, items }) => {
    return isWrite && (state === "done" || state === "unknown" || state === "running" || (items?.done ?? 0) > 0);
  });
}
