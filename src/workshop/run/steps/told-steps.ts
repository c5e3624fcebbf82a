import { isRecord } from "../../../json/is-record.ts";
import { fillTemplate } from "../../expression/fill.ts";
import { parseTemplate, renderTemplate } from "../../expression/template.ts";
import type { FieldSpec, Shape, StepsToolSpec, ToolFile } from "../../file/model/tool-file.ts";
import { fitting } from "../../shape/fitting-value.ts";
import { successResult } from "../call-result.ts";
import { showing } from "../completed-values.ts";
import { keeping, type TellingParts, type Told } from "../told-answer.ts";

type Value = Record<string, unknown>;

/** The tool whose steps were made. */
export interface ToldSteps {
  kind: "steps";
  name: string;
  spec: StepsToolSpec;
}

/** What is told besides what the steps gave. */
export interface StepsAbout {
  deviations: readonly Record<string, string>[];
  /** The steps that an earlier run of the same call made. */
  earlier: readonly string[];
}

/** The result of steps that were all made. `scope`: what expressions see. */
export function toldSteps(
  { file, values, hidden, mostKept }: TellingParts,
  { name, spec }: ToldSteps,
  scope: Value,
  { deviations, earlier }: StepsAbout,
): Told {
  const { response, limits } = spec;
  const { type } = response;
  const { input } = scope;
  const show = showing(hidden, input);
  const given = fillTemplate(response.give ?? {}, scope);
  const completed = type === undefined ? {} : values.complete(type, isRecord(given) ? given : {}, { input });
  const fitted = type === undefined ? {} : fittedTo(file, type, completed);
  const shown = type === undefined ? {} : values.shown(type, fitted, { text: show });
  const lines = [renderTemplate(parseTemplate(response.text), { ...completed, ...scope }, show)];
  if (earlier.length > 0) lines.push(`An earlier run of the same call made: ${earlier.join(", ")}.`);
  if (deviations.length > 0) lines.push("An answer was not as documented: see deviations.");
  const { kept, keep } = keeping(mostKept);
  const result = successResult({
    text: hidden.inOwnWords(lines.join("\n")),
    structured: shown,
    deviations,
    maxBytes: limits.resultBytes,
    keep: { keepWhole: (whole) => keep(whole, "application/json"), api: file.api, tool: name },
  });
  return { kind: "told", result, kept, deviations, differences: [] };
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
