import { RESERVED_WORDS } from "../../expression/parse.ts";
import { expressionIn } from "../../expression/fill.ts";
import type { StepSpec } from "../model/call-spec.ts";
import type { StepsToolSpec } from "../model/tool-file.ts";
import { type Part, present } from "../../../format/part.ts";
import { readTimeout } from "./read-upstream.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
/** Names that have another meaning in the expressions of steps. */
const TAKEN = ["input", "settings", "answer", "item", ...RESERVED_WORDS];
const MAX_STEPS = 20;
const MAX_ITEMS = 100;
const DEFAULT_ITEMS = 20;
const MIN_EVERY_MS = 500;
const DEFAULT_EVERY_MS = 2_000;
const DEFAULT_AT_MOST_MS = 60_000;

export function readSteps(part: Part): Record<string, StepSpec> {
  const steps = part.entries();
  if (part.isMap && steps.length === 0) part.error("has no steps", "Give at least one, as name: { call: tool }.");
  if (steps.length > MAX_STEPS) part.error(`has ${steps.length} steps, ${MAX_STEPS} are allowed`);
  return Object.fromEntries(
    steps.map(([name, step]) => {
      checkName(name, step);
      return [name, readStep(step)];
    }),
  );
}

/** The result of steps: a value that is made of them. */
export function readStepsResponse(part: Part): StepsToolSpec["response"] {
  part.members(["type", "give", "text"], ["text"], {
    as: "Steps read nothing themselves: the tools that they call do. Write give: with the result.",
  });
  if (part.isMap && part.has("type") !== part.has("give")) {
    part.error(part.has("type") ? "give is missing" : "type is missing", "A result has a type, and give fills it.");
  }
  return present({
    as: "none" as const,
    type: part.part("type").text(),
    text: part.part("text").text() ?? "",
    sourcePayload: false,
    give: part.has("give") ? part.part("give").value() : undefined,
  });
}

function checkName(name: string, part: Part): void {
  if (!NAME.test(name)) {
    part.keyError(
      `"${name}" cannot be the name of a step`,
      "At most 32 letters, digits and _, beginning with a letter.",
    );
  } else if (TAKEN.includes(name)) {
    part.keyError(`"${name}" already means something else in expressions`, "Choose another name.");
  }
}

function readStep(part: Part): StepSpec {
  part.members(["call", "arguments", "when", "each", "as", "max", "until", "every", "atMost"], ["call"]);
  const [isRepeated, isPolled] = [part.has("each"), part.has("until")];
  if (isRepeated && isPolled)
    part.part("until").keyError("each and until cannot be in one step", "Make two steps of it.");
  for (const key of ["as", "max"]) if (!isRepeated) refuseAlone(part, key, "each");
  for (const key of ["every", "atMost"]) if (!isPolled) refuseAlone(part, key, "until");
  return present({
    call: part.part("call").text() ?? "",
    arguments: part.part("arguments").record(),
    when: readCondition(part.part("when")),
    each: isRepeated ? readEach(part) : undefined,
    until: isPolled && !isRepeated ? readUntil(part) : undefined,
  });
}

function refuseAlone(part: Part, key: string, owner: string): void {
  if (part.has(key)) part.part(key).keyError(`belongs to ${owner}, which is missing`);
}

/** An expression; a leading `=` may be written, as in arguments. */
function readCondition(part: Part): string | undefined {
  const text = part.text();
  return expressionIn(text)?.trim() ?? text;
}

function readEach(part: Part): NonNullable<StepSpec["each"]> {
  const as = part.part("as").text() ?? "item";
  if (part.has("as")) {
    if (!NAME.test(as)) part.part("as").error(`"${as}" cannot be a name`, "Letters, digits and _.");
    else if (TAKEN.includes(as) && as !== "item") part.part("as").error(`"${as}" already means something else`);
  }
  const max = part.part("max").integer(1) ?? DEFAULT_ITEMS;
  if (max > MAX_ITEMS) part.part("max").error(`must be ${MAX_ITEMS} or less, not ${max}`);
  return { list: readCondition(part.part("each")) ?? "null", as, max };
}

function readUntil(part: Part): NonNullable<StepSpec["until"]> {
  const everyMs = readTimeout(part.part("every")) ?? DEFAULT_EVERY_MS;
  const atMostMs = readTimeout(part.part("atMost")) ?? DEFAULT_AT_MOST_MS;
  if (everyMs < MIN_EVERY_MS) part.part("every").error(`must be ${MIN_EVERY_MS}ms or more`);
  if (everyMs > atMostMs) part.part("every").error("is longer than atMost, so there would be one request only");
  return { that: readCondition(part.part("until")) ?? "true", everyMs, atMostMs };
}
