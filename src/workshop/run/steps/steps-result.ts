import { instanceKey } from "../../../auth/server-instance.ts";
import { isRecord } from "../../../json/is-record.ts";
import type { CallToolResult } from "../../../protocol/mcp.ts";
import { fillTemplate } from "../../expression/fill.ts";
import { renderTemplate } from "../../expression/template.ts";
import type { FieldSpec, Shape, ToolFile } from "../../file/model/tool-file.ts";
import { fitting } from "../../shape/fitting-value.ts";
import { failureResult, META_KEYS, successResult, withMeta } from "../call-result.ts";
import type { RunnerParts } from "../runner-parts.ts";
import type { StepReport, StepsEnd } from "./steps-run.ts";
import type { StepsPlan } from "./steps-plan.ts";
import { showing } from "../completed-values.ts";

type Value = Record<string, unknown>;

/** The result of a run, with what became of each step. */
export function stepsResult(
  parts: RunnerParts,
  plan: StepsPlan,
  end: StepsEnd,
  { caller, settling }: { caller: string; settling: (id: string) => string[] },
): CallToolResult {
  const { reports, stopped } = end;
  const meta = { [META_KEYS.steps]: reports };
  if (!stopped) return withMeta(finished(parts, plan, end, caller), meta);
  const { failure, step, id } = stopped;
  const changed = changedSomething(reports);
  const lines = [
    `${plan.name} stopped at the step ${step}. ${failure.text}`,
    "What became of the steps:",
    ...reports.map(reportLine),
  ];
  const advice = [
    failure.hint ?? (failure.outcome === "refused" ? failure.again : undefined),
    ...(id === undefined ? [] : settling(id)),
    nextAdvice(reports, changed, plan),
  ];
  const hint = advice.filter((part) => part !== undefined).join("\n");
  return withMeta(failureResult({ text: lines.join("\n"), hint, said: failure.said }, parts.hidden), meta);
}

function nextAdvice(reports: readonly StepReport[], changed: boolean, { spec }: StepsPlan): string | undefined {
  if (spec.effect === "read") return undefined;
  if (!changed) return "Nothing was changed.";
  if (reports.some(({ state }) => state === "unknown")) {
    return "Until then the same call stops at this step. The steps after it were not sent.";
  }
  return "The same call again goes on from here: what is done is not sent a second time.";
}

function finished(parts: RunnerParts, plan: StepsPlan, end: StepsEnd, caller: string): CallToolResult {
  const { values, hidden, results, api, instance } = parts;
  const { response, limits } = plan.spec;
  const { scope, reports } = end;
  const { input } = scope;
  const show = showing(hidden, input);
  const given = fillTemplate(response.give ?? {}, scope);
  const completed =
    response.type === undefined ? {} : values.complete(response.type, isRecord(given) ? given : {}, { input });
  const fitted = response.type === undefined ? {} : fittedTo(api.file, response.type, completed);
  const shown = response.type === undefined ? {} : values.shown(response.type, fitted, { text: show });
  const earlier = reports.filter((report) => report.earlier).map(({ step }) => step);
  const lines = [renderTemplate(plan.text, { ...completed, ...scope }, show)];
  if (earlier.length > 0) lines.push(`An earlier run of the same call made: ${earlier.join(", ")}.`);
  if (end.deviations.length > 0) lines.push("An answer was not as documented: see deviations.");
  return successResult({
    text: hidden.inOwnWords(lines.join("\n")),
    structured: shown,
    deviations: end.deviations,
    maxBytes: limits.resultBytes,
    keep: {
      keepWhole: (whole: string) => results.keep(instanceKey(instance, caller), whole),
      api: api.file.api,
      tool: plan.name,
    },
  });
}

/** Without values of another kind, because clients validate results; lists are always there. */
function fittedTo(file: ToolFile, type: string, value: Value): Value {
  const spec = file.types[type];
  if (!spec || spec.union) return value;
  const fields = Object.entries(spec.fields);
  const members = fields.map(([name, field]) => [name, fittedField(file, field, value[name])] as const);
  const others = spec.additional ? Object.entries(value).filter(([name]) => !Object.hasOwn(spec.fields, name)) : [];
  return Object.fromEntries([...members.filter(([, member]) => member !== undefined), ...others]);
}

function fittedField(file: ToolFile, { shape, nullable }: FieldSpec, value: unknown): unknown {
  return value === null && nullable ? null : fittedShape(file, shape, value);
}

function fittedShape(file: ToolFile, shape: Shape, value: unknown): unknown {
  switch (shape.kind) {
    case "list":
      return Array.isArray(value)
        ? value.map((item) => fittedShape(file, shape.of, item)).filter((item) => item !== undefined)
        : [];
    case "object":
      return isRecord(value) ? fittedTo(file, shape.type, value) : undefined;
    case "scalar":
      return fitting(shape, value);
    case "map":
    case "union":
    case "any":
      return value;
  }
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
