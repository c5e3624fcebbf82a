import { scalarOf } from "../codec/record/scalar.ts";
import { sampleText } from "../pattern/sample-text.ts";
import { StepBudget } from "../pattern/step-budget.ts";
import type { FieldSpec, ScalarShape, ToolFile } from "../file/model/tool-file.ts";

/** The limit for recursive types. */
const MAX_DEPTH = 4;
/** Tried in order for a text that has to match a pattern. */
const TEXTS = ["example", "AB", "A1", "1", "10:00", "T-1", "12345", "AT", "de", "2026-01-01", "a@example.com"];

/**
 * A value of a type, always the same: the value of the request with the same name, otherwise the smallest valid one.
 * For tools whose fake answers are not in the file.
 */
export function madeUp(
  file: ToolFile,
  type: string,
  input: Record<string, unknown>,
  depth = 0,
): Record<string, unknown> {
  const fields = Object.entries(file.types[type]?.fields ?? {});
  const values = fields
    .filter(([, field]) => isMadeUp(field))
    .map(([name, field]) => [name, fieldValue(file, name, field, { input, depth })] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/**
 * Whether a field gets a value: computed and constant fields get theirs elsewhere, and fields that are read for errors
 * would cause one.
 */
function isMadeUp({ wire, value, const: constant, hidden, optional }: FieldSpec): boolean {
  return wire !== false && value === undefined && constant === undefined && !(hidden && optional);
}

function fieldValue(
  file: ToolFile,
  name: string,
  { shape, optional }: FieldSpec,
  at: { input: Record<string, unknown>; depth: number },
): unknown {
  switch (shape.kind) {
    case "scalar":
      return madeUpValue(shape, at.input[name]);
    case "object":
      return at.depth >= MAX_DEPTH && optional ? undefined : madeUp(file, shape.type, at.input, at.depth + 1);
    case "list": {
      if (at.depth >= MAX_DEPTH) return [];
      const { of } = shape;
      const length = Math.max(shape.minItems ?? 0, Math.min(1, shape.maxItems ?? 1));
      return Array.from({ length }, () =>
        of.kind === "object"
          ? madeUp(file, of.type, at.input, at.depth + 1)
          : of.kind === "scalar"
            ? madeUpValue(of)
            : undefined,
      );
    }
    case "map":
    case "union":
    case "any":
      return undefined;
  }
}

/** The requested value if it is valid, otherwise the smallest valid one; undefined if none is found. */
export function madeUpValue(shape: ScalarShape, asked?: unknown): unknown {
  const scalar = scalarOf(shape);
  const isRight = (value: unknown) => {
    const text = scalar.write(value);
    return typeof text === "string" && scalar.limit?.(value, new StepBudget()) === undefined;
  };
  return [asked, ...candidates(shape)].find((value) => value !== undefined && isRight(value));
}

function candidates(shape: ScalarShape): unknown[] {
  if (shape.codes) return Object.values(shape.codes);
  if (shape.enum) return shape.enum;
  switch (shape.type) {
    case "string":
      return [sampleText(TEXTS, shape)];
    case "integer":
    case "number":
      return [1, shape.minimum, shape.maximum];
    case "boolean":
    case "presence":
      return [true];
    case "date":
      return ["2026-01-01"];
    case "datetime":
      return ["2026-01-01T12:00:00", "2026-01-01T12:00:00Z"];
    case "binary":
      return ["ZXhhbXBsZQ=="];
  }
}
