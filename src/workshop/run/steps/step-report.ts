import type { StepCallOutcome } from "./step-call.ts";

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

/** `- lines: 2 of 3 done, then the outcome of one is not known (id 7KQ…)`. */
export function reportLine({ step, call, isWrite, state, items, earlier, id }: StepReport): string {
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

/** Takes one outcome into the report of its step. */
export function takeOutcome(report: StepReport, outcome: StepCallOutcome): void {
  if (outcome.kind !== "done") {
    report.state = outcome.kind;
    if (outcome.kind === "unknown") report.id = outcome.id;
    return;
  }
  if (outcome.earlier) report.earlier = true;
  if (report.items) report.items.done += 1;
  if (!report.items || report.items.done === report.items.of) report.state = "done";
}

/** Whether writes were made or may have been made. */
export function changedSomething(reports: readonly StepReport[]): boolean {
  return reports.some(({ isWrite, state, items }) => {
    return isWrite && (state === "done" || state === "unknown" || state === "running" || (items?.done ?? 0) > 0);
  });
}
