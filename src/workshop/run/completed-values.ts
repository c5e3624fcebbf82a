import { isRecord } from "../../json/is-record.ts";
import { evaluate } from "../expression/evaluate.ts";
import type { Expression, Scope } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse.ts";
import type { FieldSpec, ToolFile } from "../file/model/tool-file.ts";
import { typeInside } from "../file/read/uses.ts";

type Value = Record<string, unknown>;

/** How values are written for callers, with secrets masked. */
export interface Showing {
  /** For free text from upstream. */
  text: (text: string) => string;
  /** For unknown members; undefined leaves them out. */
  unknown?: ((members: Value) => Value) | undefined;
}

interface TypePlan {
  fields: ReadonlySet<string>;
  /** Whether nothing is added to its values or to those inside them. */
  isPlain: boolean;
  constants: readonly (readonly [string, unknown])[];
  nested: readonly { field: string; type: string; isList: boolean }[];
  computed: readonly { field: string; shape: FieldSpec["shape"]; expression: Expression }[];
  /** `isText`: free text from upstream; all others are numbers, dates and codes. */
  shown: readonly { field: string; isText: boolean; inner: string | undefined }[];
}

/** Adds constants and computed fields to values of a file's types. */
export class CompletedValues {
  readonly #file: ToolFile;
  readonly #plans = new Map<string, TypePlan>();

  constructor(file: ToolFile) {
    this.#file = file;
  }

  /** From the inside out, so that computed fields see those further inside. */
  complete(type: string, value: Value, scope: Scope): Value {
    const plan = this.#plan(type);
    if (plan.isPlain) return value;
    const whole = copyOf(value);
    for (const [field, constant] of plan.constants) whole[field] = constant;
    for (const { field, type: inner, isList } of plan.nested) {
      const member = whole[field];
      if (isList && Array.isArray(member))
        whole[field] = member.map((item: Value) => this.complete(inner, item, scope));
      else if (isRecord(member)) whole[field] = this.complete(inner, member, scope);
    }
    let seen: Value | undefined;
    for (const { field, shape, expression } of plan.computed) {
      seen ??= copyOf(scope, whole);
      const computed = fitting(shape, evaluate(expression, seen));
      if (computed === undefined) {
        delete whole[field];
        seen = undefined;
      } else {
        whole[field] = seen[field] = computed;
      }
    }
    return whole;
  }

  /** The visible fields in the order of the file; `show` writes the texts. */
  shown(type: string, value: Value, show: Showing): Value {
    const seen: Value = {};
    const { shown, fields } = this.#plan(type);
    for (const { field, isText, inner } of shown) {
      const member = value[field];
      if (member === undefined) continue;
      if (inner === undefined) seen[field] = isText ? shownText(member, show.text) : member;
      else if (Array.isArray(member)) seen[field] = member.map((item: Value) => this.shown(inner, item, show));
      else seen[field] = isRecord(member) ? this.shown(inner, member, show) : member;
    }
    const { unknown } = show;
    if (!unknown) return seen;
    for (const name of Object.keys(value)) {
      if (!fields.has(name)) Object.assign(seen, unknown({ [name]: value[name] }));
    }
    return seen;
  }

  /** Whether a value of the type, or one inside it, is computed with this function. */
  calls(type: string, name: string, seen = new Set<string>()): boolean {
    if (seen.has(type)) return false;
    seen.add(type);
    const { computed, nested } = this.#plan(type);
    return (
      computed.some(({ expression }) => callsIn(expression, name)) ||
      nested.some(({ type: inner }) => this.calls(inner, name, seen))
    );
  }

  #plan(type: string): TypePlan {
    const known = this.#plans.get(type);
    if (known) return known;
    const fields = Object.entries(this.#file.types[type]?.fields ?? {});
    const plan: TypePlan = {
      fields: new Set(fields.map(([field]) => field)),
      isPlain: false,
      constants: fields.flatMap(([field, spec]) => (spec.const === undefined ? [] : [[field, spec.const] as const])),
      nested: fields.flatMap(([field, spec]) => {
        const inner = typeInside(spec);
        return inner === undefined ? [] : [{ field, type: inner, isList: spec.shape.kind === "list" }];
      }),
      computed: fields.flatMap(([field, { value, shape }]) =>
        value === undefined ? [] : [{ field, shape, expression: parseExpression(value) }],
      ),
      shown: fields
        .filter(([, { hidden }]) => !hidden)
        .map(([field, spec]) => ({ field, isText: isFreeText(spec), inner: typeInside(spec) })),
    };
    // Stored before the inner types are looked at: a recursive type is not plain.
    this.#plans.set(type, plan);
    plan.isPlain =
      plan.constants.length === 0 &&
      plan.computed.length === 0 &&
      plan.nested.every((inner) => this.#plan(inner.type).isPlain);
    return plan;
  }
}

/** Member by member: spreading would give each object its own hidden classes. Names are those of fields. */
function copyOf(...each: readonly Readonly<Value>[]): Value {
  const copy: Value = {};
  for (const value of each) for (const name of Object.keys(value)) copy[name] = value[name];
  return copy;
}

function isFreeText({ shape, const: constant }: FieldSpec): boolean {
  const inner = shape.kind === "list" ? shape.of : shape;
  return constant === undefined && inner.kind === "scalar" && inner.type === "string" && !inner.codes && !inner.enum;
}

function shownText(value: unknown, show: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => shownText(item, show));
  return typeof value === "string" ? show(value) : value;
}

/** A computed value must match its type, because clients validate results. */
function fitting(shape: FieldSpec["shape"], value: unknown): unknown {
  if (shape.kind === "list") return Array.isArray(value) ? value : value === null ? [] : undefined;
  if (shape.kind === "object" || shape.kind === "map") return isRecord(value) ? value : undefined;
  if (shape.kind !== "scalar") return value ?? undefined;
  switch (shape.type) {
    case "integer":
      return Number.isSafeInteger(value) ? value : undefined;
    case "number":
      return Number.isFinite(value) ? value : undefined;
    case "boolean":
    case "presence":
      return typeof value === "boolean" ? value : undefined;
    case "string":
    case "date":
    case "datetime":
    case "binary":
      return typeof value === "string" ? value : undefined;
  }
}

function callsIn(expression: Expression, name: string): boolean {
  switch (expression.kind) {
    case "literal":
    case "name":
      return false;
    case "member":
    case "item":
    case "spread":
    case "not":
    case "minus":
      return callsIn(expression.of, name);
    case "call":
      return expression.name === name || expression.given.some((given) => callsIn(given, name));
    case "binary":
      return callsIn(expression.left, name) || callsIn(expression.right, name);
  }
}
