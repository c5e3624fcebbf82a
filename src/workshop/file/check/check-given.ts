import { nearestName } from "../../../text/nearest-name.ts";
import { expressionIn, repetitionIn } from "../../expression/fill.ts";
import { checkExpression } from "./check-expressions.ts";
import type { ExpressionPlace } from "./judge-expression.ts";
import { ANYTHING, joined, knownType, SINGLE, withMembers, type KnownValue } from "./known-value.ts";
import { filledPlaces } from "../model/filled-template.ts";
import { oneOf } from "../../../format/part.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import { secretNames } from "../model/secret-names.ts";
import type { ToolFile, ToolSpec } from "../model/tool-file.ts";

/** Values in the file: examples, arguments of a confirming call, and answers of the fake. */
export function checkGiven(file: ToolFile, problems: Problems): void {
  for (const [name, tool] of Object.entries(file.tools)) {
    const input = knownType(file, tool.input);
    tool.examples.forEach((example, index) => {
      checkMembers(example.arguments, input, ["tools", name, "examples", index, "arguments"], problems);
    });
    const called =
      tool.confirm && Object.hasOwn(file.tools, tool.confirm.call) ? file.tools[tool.confirm.call] : undefined;
    if (!tool.confirm || !called) continue;
    const given: Given = { place: { scope: withMembers({ input }) }, problems };
    checkValue(tool.confirm.arguments, knownType(file, called.input), ["tools", name, "confirm", "arguments"], given);
  }
  checkFake(file, problems);
}

interface Given {
  place: ExpressionPlace;
  problems: Problems;
}

function checkFake(file: ToolFile, problems: Problems): void {
  const tables = Object.entries(file.fake.tables).map(([name, rows]) => [name, knownRows(rows)] as const);
  for (const [name, { refused, invalid, answers }] of Object.entries(file.fake.tools)) {
    const tool = Object.hasOwn(file.tools, name) ? file.tools[name] : undefined;
    if (!tool) continue;
    const answer = answerOf(file, tool);
    const path = ["fake", "tools", name];
    const scope = joined(withMembers(Object.fromEntries(tables)), withMembers({ input: knownType(file, tool.input) }));
    const given: Given = { place: { scope, by: "fake" }, problems };
    if (refused) checkValue(refused.give, answer, [...path, "refused", "give"], given);
    const withProblem: Given = {
      ...given,
      place: { ...given.place, scope: joined(scope, withMembers({ problem: SINGLE })) },
    };
    if (invalid) checkValue(invalid.give, answer, [...path, "invalid", "give"], withProblem);
    answers.forEach((item, index) => {
      const at = [...path, "answers", index];
      if (item.when !== undefined) checkExpression(item.when, given.place, [...at, "when"], problems);
      if (item.remember !== undefined) checkExpression(item.remember, given.place, [...at, "remember"], problems);
      checkValue(item.give, answer, [...at, "give"], given);
    });
  }
  checkFakeSecrets(file, problems);
}

function answerOf(file: ToolFile, { response }: ToolSpec): KnownValue {
  if (response.type === undefined) return ANYTHING;
  const type = knownType(file, response.type);
  // The file or text itself, beside the fields that stand in headers.
  const isWhole = response.as === "binary" || response.as === "text";
  return isWhole ? joined(type, withMembers({ content: SINGLE })) : type;
}

/** Checks a value with `= expression`s and repetitions against its expected type. */
export function checkValue(value: unknown, wanted: KnownValue, path: Path, given: Given): void {
  const { place, problems } = given;
  const computed = expressionIn(value);
  if (computed !== undefined) {
    checkExpression(computed, place, path, problems);
    return;
  }
  if (Array.isArray(value)) {
    const item = wanted.kind === "list" ? wanted.of : ANYTHING;
    value.forEach((member: unknown, index) => {
      checkValue(member, repetitionIn(member) ? wanted : item, [...path, index], given);
    });
    return;
  }
  const repetition = repetitionIn(value);
  if (repetition) {
    const { each, as, when, times, give } = repetition;
    checkExpression(each, place, [...path, "each"], problems);
    const inner: Given = { problems, place: { ...place, scope: joined(place.scope, withMembers({ [as]: ANYTHING })) } };
    if (when !== undefined) checkExpression(when, inner.place, [...path, "when"], problems);
    if (times !== undefined) checkExpression(times, inner.place, [...path, "times"], problems);
    return checkValue(give, wanted.kind === "list" ? wanted.of : ANYTHING, [...path, "give"], inner);
  }
  if (typeof value !== "object" || value === null) return;
  checkMembers(value as Record<string, unknown>, wanted, path, problems);
  for (const [key, member] of Object.entries(value)) {
    const known = wanted.kind === "object" ? wanted.members.get(key)?.() : undefined;
    checkValue(member, known ?? ANYTHING, [...path, key], given);
  }
}

function checkMembers(value: Record<string, unknown>, wanted: KnownValue, path: Path, problems: Problems): void {
  if (wanted.kind !== "object") return;
  const known = [...wanted.members.keys()];
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = nearestName(key, known);
    problems.keyError(
      [...path, key],
      `there is no field "${key}"`,
      meant ? `Did you mean "${meant}"?` : `There is ${oneOf(known)}.`,
    );
  }
}

function checkFakeSecrets({ secrets, fake }: ToolFile, problems: Problems): void {
  const names = [...new Set(Object.values(secrets).flatMap(secretNames))];
  for (const given of Object.keys(fake.secrets)) {
    if (names.some((name) => filledPlaces(name, given))) continue;
    const meant = nearestName(given, names);
    problems.keyError(
      ["fake", "secrets", given],
      `no secret is called "${given}"`,
      meant ? `Did you mean "${meant}"?` : undefined,
    );
  }
}

/** For tables in the file: each row has some of the members. */
function knownRows(rows: readonly Record<string, unknown>[]): KnownValue {
  const keys = new Set(rows.flatMap((row) => Object.keys(row)));
  const of: KnownValue = { kind: "object", members: new Map([...keys].map((key) => [key, () => ANYTHING])) };
  return { kind: "list", of: rows.length === 0 ? ANYTHING : of };
}
