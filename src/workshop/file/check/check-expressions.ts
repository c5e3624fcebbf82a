import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import type { Expression } from "../../expression/expression.ts";
import { parseExpression } from "../../expression/parse.ts";
import { parseTemplate } from "../../expression/template.ts";
import { judgeExpression, type ExpressionPlace } from "./judge-expression.ts";
import { ANYTHING, joined, knownSettings, knownType, SINGLE, withMembers, type KnownValue } from "./known-value.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import type { ConfirmSpec, ToolFile, ToolSpec, FieldSpec } from "../model/tool-file.ts";
import { usesOf } from "../complete/uses.ts";

/** Expressions and templates that are invalid or use unknown names. */
export function checkExpressions(file: ToolFile, problems: Problems): void {
  checkTypes(file, problems);
  for (const [name, tool] of Object.entries(file.tools)) checkTool(file, tool, ["tools", name], problems);
}

/** Checks one expression; `place` has the available names. */
export function checkExpression(
  text: string,
  place: ExpressionPlace,
  path: Path,
  problems: Problems,
): Expression | undefined {
  const [expression] = read(() => [parseExpression(text)], path, problems);
  if (expression) judge(expression, place, path, problems);
  return expression;
}

const WORDS = {
  number: "a number",
  text: "text",
  truth: "true or false",
  list: "a list",
  object: "an object",
} as const;

/** Reports an expression that can never have the expected type; `consequence` describes the effect. */
export function checkKind(
  expression: Expression | undefined,
  { wanted, consequence }: { wanted: keyof typeof WORDS | "unknown"; consequence: string },
  path: Path,
  problems: Problems,
): void {
  const kind = expression ? resultKind(expression) : "unknown";
  if (kind === "unknown" || wanted === "unknown" || kind === wanted) return;
  const hint = kind === "truth" ? '"and", "or" and comparisons give true or false. ' : "";
  const instead =
    wanted === "truth" ? "Compare it with something." : "For a value under a condition: if(condition, value).";
  problems.error(path, `gives ${WORDS[kind]}, not ${WORDS[wanted]}: ${consequence}`, `${hint}${instead}`);
}

/** The same for a template. */
export function checkTemplate(text: string | undefined, place: ExpressionPlace, path: Path, problems: Problems): void {
  const parts = text === undefined ? [] : read(() => parseTemplate(text), path, problems);
  for (const part of parts) if (typeof part !== "string") judge(part, place, path, problems);
}

function read<T>(parse: () => readonly T[], path: Path, problems: Problems): readonly T[] {
  try {
    return parse();
  } catch (error) {
    problems.error(path, messageOf(error), error instanceof NexusError ? error.hint : undefined);
    return [];
  }
}

function judge(expression: Expression, place: ExpressionPlace, path: Path, problems: Problems): void {
  for (const { message, hint } of judgeExpression(expression, place)) problems.error(path, message, hint);
}

function checkTypes(file: ToolFile, problems: Problems): void {
  const uses = usesOf(file);
  const settings = knownSettings(file);
  // Computed fields of an answer also see the arguments, which depend on the tool.
  const inputs = joined(
    ...[...new Set(Object.values(file.tools).map(({ input }) => input))].map((name) => knownType(file, name)),
  );
  const around = withMembers({ input: inputs, status: SINGLE });
  for (const [name, { fields, rules }] of Object.entries(file.types)) {
    const own = knownType(file, name);
    const path = ["types", name];
    rules.forEach(({ that }, index) => {
      const at = [...path, "rules", index, "that"];
      const rule = checkExpression(that, { scope: own, by: "rule" }, at, problems);
      checkKind(rule, { wanted: "truth", consequence: "it would never refuse anything" }, at, problems);
    });
    if (Object.values(fields).every(({ value }) => value === undefined)) continue;
    const isOutput = uses.get(name)?.sides.has("output") === true;
    const place: ExpressionPlace = isOutput
      ? { scope: joined(around, own) }
      : { scope: joined(settings, own), by: "runner" };
    for (const [field, spec] of Object.entries(fields)) {
      if (spec.value === undefined) continue;
      const at = [...path, "fields", field, "value"];
      const value = checkExpression(spec.value, place, at, problems);
      checkKind(value, { wanted: kindOfField(spec), consequence: "the field would always be empty" }, at, problems);
    }
  }
}

/** What an answer has besides the fields of its type. */
const OWN_MEMBERS: Partial<Record<ToolSpec["response"]["as"], Record<string, KnownValue>>> = {
  text: { text: SINGLE },
  binary: { contentType: SINGLE, size: SINGLE },
  auto: { text: SINGLE, contentType: SINGLE, size: SINGLE },
};

function checkTool(file: ToolFile, tool: ToolSpec, path: Path, problems: Problems): void {
  const { response, errors, outcomeUnknown, confirm } = tool;
  const input = withMembers({ input: knownType(file, tool.input) });
  const own = withMembers(OWN_MEMBERS[response.as] ?? {});
  const isAnything = response.as === "auto" && response.type === undefined;
  const answer = isAnything
    ? ANYTHING
    : response.type === undefined
      ? own
      : joined(own, knownType(file, response.type));
  const place: ExpressionPlace = { scope: joined(answer, input, withMembers({ status: SINGLE })) };
  if (tool.request) checkTemplate(response.text, place, [...path, "response", "text"], problems);
  errors.forEach((error, index) => {
    const at = [...path, "errors", index];
    if (error.that !== undefined) checkExpression(error.that, place, [...at, "that"], problems);
    checkTemplate(error.say, place, [...at, "say"], problems);
    checkTemplate(error.try, place, [...at, "try"], problems);
  });
  checkTemplate(outcomeUnknown, { scope: input }, [...path, "outcomeUnknown"], problems);
  if (confirm) checkConfirm(file, confirm, input, [...path, "confirm"], problems);
}

function checkConfirm(file: ToolFile, confirm: ConfirmSpec, input: KnownValue, path: Path, problems: Problems): void {
  const called = Object.hasOwn(file.tools, confirm.call) ? file.tools[confirm.call] : undefined;
  const answer = called?.response.type === undefined ? ANYTHING : knownType(file, called.response.type);
  const seen = joined(input, withMembers({ answer }));
  const found = withMembers({ found: ANYTHING });
  checkExpression(confirm.find, { scope: seen }, [...path, "find"], problems);
  const actual = checkExpression(confirm.actual, { scope: joined(seen, found) }, [...path, "actual"], problems);
  const consequence = "it would never be confirmed";
  checkKind(actual, { wanted: "number", consequence }, [...path, "actual"], problems);
  const told: ExpressionPlace = { scope: joined(input, found, withMembers({ expected: SINGLE, actual: SINGLE })) };
  checkTemplate(confirm.ask, told, [...path, "ask"], problems);
  checkTemplate(confirm.gone, told, [...path, "gone"], problems);
}

/** The type of an expression's result, as far as it is known. */
type ResultKind = "number" | "text" | "truth" | "unknown";

const OF_CALLS: Readonly<Record<string, ResultKind>> = {
  count: "number",
  sum: "number",
  days: "number",
  round: "number",
  contains: "truth",
  seen: "truth",
  join: "text",
  lower: "text",
  upper: "text",
  now: "text",
  today: "text",
  request_key: "text",
};

function resultKind(expression: Expression): ResultKind {
  switch (expression.kind) {
    case "literal":
      return kindOfLiteral(expression.value);
    case "not":
      return "truth";
    case "minus":
      return "number";
    case "call":
      return kindOfCall(expression);
    case "binary":
      return kindOfBinary(expression);
    case "name":
    case "member":
    case "item":
    case "spread":
      return "unknown";
  }
}

/** The type that a computed field needs; any other result would leave it empty. */
function kindOfField({ shape }: FieldSpec): ResultKind | "list" | "object" {
  if (shape.kind === "union" || shape.kind === "any") return "unknown";
  if (shape.kind !== "scalar") return shape.kind === "map" ? "object" : shape.kind;
  switch (shape.type) {
    case "integer":
    case "number":
      return "number";
    case "boolean":
    case "presence":
      return "truth";
    case "string":
    case "date":
    case "datetime":
    case "binary":
      return "text";
  }
}

function kindOfLiteral(value: string | number | boolean | null): ResultKind {
  if (value === null) return "unknown";
  return typeof value === "string" ? "text" : typeof value === "number" ? "number" : "truth";
}

function kindOfCall({ name, given }: Extract<Expression, { kind: "call" }>): ResultKind {
  if (name !== "if") return Object.hasOwn(OF_CALLS, name) ? (OF_CALLS[name] ?? "unknown") : "unknown";
  const [first, ...others] = given.slice(1).map(resultKind);
  return first !== undefined && others.every((kind) => kind === first) ? first : "unknown";
}

function kindOfBinary({ operator, left, right }: Extract<Expression, { kind: "binary" }>): ResultKind {
  if (operator === "-" || operator === "*" || operator === "/") return "number";
  if (operator !== "+") return "truth";
  const kinds = [resultKind(left), resultKind(right)];
  if (kinds.includes("text")) return "text";
  return kinds.every((kind) => kind === "number") ? "number" : "unknown";
}
