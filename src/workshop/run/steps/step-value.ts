import { isRecord } from "../../../json/is-record.ts";
import { bytesOf, excerptOf } from "../excerpt.ts";
import type { Success } from "../response-reader.ts";
import type { RunnerParts } from "../runner-parts.ts";
import type { ToolPlan } from "../tool-plan.ts";

type Value = Record<string, unknown>;

/** Maximum size of a value that is recorded. */
const MAX_RECORDED_BYTES = 1024 * 1024;

/**
 * What later steps see of an answer: the visible fields, as callers of the tool get them. The same value is recorded, so
 * that a repeated call goes on with it. Only secrets that cannot occur by chance are masked: an id must stay as it is.
 */
export function stepValue(
  { values, hidden }: RunnerParts,
  plan: ToolPlan,
  { value, more }: Pick<Success, "value" | "more">,
): Value {
  const masked = (text: string) => hidden.inOwnWords(text);
  const { type, unknown } = plan.spec.response;
  const inAll = (members: Value) => maskedIn(members, masked) as Value;
  const keep = unknown === "keep" ? inAll : undefined;
  const shown = type === undefined ? inAll(value) : values.shown(type, value, { text: masked, unknown: keep });
  const whole = more ? { ...shown, more } : shown;
  if (plan.spec.effect === "read" || bytesOf(whole) <= MAX_RECORDED_BYTES) return whole;
  return excerptOf(whole, MAX_RECORDED_BYTES).value;
}

function maskedIn(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskedIn(item, mask));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskedIn(member, mask)]));
}
