import { isRecord } from "../../json/is-record.ts";
import type { ScalarShape, Shape } from "../file/model/tool-file.ts";

/** A computed value must match its type, because clients validate results; undefined if it does not. */
export function fitting(shape: Shape, value: unknown): unknown {
  if (shape.kind === "list") return Array.isArray(value) ? value : value === null ? [] : undefined;
  if (shape.kind === "object" || shape.kind === "map") return isRecord(value) ? value : undefined;
  if (shape.kind !== "scalar") return value ?? undefined;
  switch (shape.type) {
    case "integer":
      return Number.isSafeInteger(value) || isDigits(shape, value) ? value : undefined;
    case "number":
      return Number.isFinite(value) || isDigits(shape, value) ? value : undefined;
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

/** An exact number as text. */
function isDigits({ type, exact }: ScalarShape, value: unknown): boolean {
  if (!exact || typeof value !== "string") return false;
  return type === "integer" ? /^-?\d+$/.test(value) : value.trim() !== "" && Number.isFinite(Number(value));
}
