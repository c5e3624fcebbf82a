import { linearPattern } from "../../pattern/linear-pattern.ts";
import { UnusablePattern } from "../../pattern/parse-pattern.ts";
import { StepBudget } from "../../pattern/step-budget.ts";
import { type Part, present } from "../../../format/part.ts";
import { readEvidence } from "./read-evidence.ts";
import { misfit, readScalar } from "./read-scalar.ts";
import type { SettingSpec } from "../model/tool-file.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const KEYS = ["description", "minLength", "maxLength", "pattern", "enum", "default", "example", "evidence"];

/** Undefined if there are none, so that files without settings keep their hash. */
export function readSettings(part: Part, documents: readonly string[]): Record<string, SettingSpec> | undefined {
  const entries = part.entries();
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([name, setting]) => {
      if (!NAME.test(name)) setting.keyError(`"${name}" cannot be the name of a setting`, "Letters, digits and _.");
      return [name, readSetting(setting, documents)];
    }),
  );
}

/** The problem of a setting's value; undefined if it is valid. */
export function unfitSetting({ shape }: SettingSpec, value: string): string | undefined {
  const wrong = misfit(shape, value)?.what;
  if (wrong !== undefined || shape.pattern === undefined) return wrong;
  return linearPattern(shape.pattern).test(value, new StepBudget()) ? undefined : `must match ${shape.pattern}`;
}

function readSetting(part: Part, documents: readonly string[]): SettingSpec {
  part.members(KEYS);
  const setting: SettingSpec = present({
    description: part.part("description").text(),
    shape: readScalar(part, "string"),
    default: part.part("default").text(),
    example: part.part("example").text(),
    evidence: readEvidence(part.part("evidence"), documents),
  });
  for (const key of ["default", "example"] as const) {
    const value = setting[key];
    const wrong = value === undefined ? undefined : unfitGiven(setting, value);
    if (wrong !== undefined) part.part(key).error(wrong);
  }
  if (part.isMap && setting.default === undefined && setting.example === undefined && !part.has("example")) {
    part.error("has neither default nor example", "Without a default, the fake and the checks need an example.");
  }
  return setting;
}

/** An invalid pattern is reported in its own place. */
function unfitGiven(setting: SettingSpec, value: string): string | undefined {
  try {
    return unfitSetting(setting, value);
  } catch (error) {
    if (error instanceof UnusablePattern) return undefined;
    throw error;
  }
}
