import type { Expression } from "../../expression/expression.ts";
import type { FieldSpec } from "../model/tool-file.ts";

/** The type of an expression's result, as far as it is known. */
export type ResultKind = "number" | "text" | "truth" | "unknown";

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

export function resultKind(expression: Expression): ResultKind {
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
export function kindOfField({ shape }: FieldSpec): ResultKind | "list" | "object" {
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
