import { isRecord } from "../../json/is-record.ts";
import type { FieldSpec, ToolFile } from "../file/model/tool-file.ts";
import type { ArgumentProblem } from "./argument-problem.ts";

/** A double keeps this many significant digits. */
const KEPT_DIGITS = 15;

/**
 * Numbers that may have lost digits in JSON, whose numbers are doubles: whole numbers beyond the exact range, and other
 * large numbers with more digits than a double keeps. 6e23 is exact as written.
 */
export function inexactNumbers(file: ToolFile, type: string, value: unknown): ArgumentProblem[] {
  const found: ArgumentProblem[] = [];
  collect({ kind: "object", type }, value, "");
  return found;

  function collect(shape: FieldSpec["shape"], given: unknown, path: string): void {
    if (shape.kind === "scalar") {
      if (typeof given === "number" && mayHaveLost(given, shape.type === "integer")) found.push(problemAt(path));
    } else if (shape.kind === "list") {
      if (Array.isArray(given)) given.forEach((item, index) => collect(shape.of, item, `${path}[${index}]`));
    } else if (shape.kind === "object" && isRecord(given)) {
      const fields = file.types[shape.type]?.fields ?? {};
      for (const name of Object.keys(given)) {
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (field) collect(field.shape, given[name], path === "" ? name : `${path}.${name}`);
      }
    }
  }
}

function mayHaveLost(value: number, isInteger: boolean): boolean {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return false;
  return isInteger || Number(value.toPrecision(KEPT_DIGITS)) !== value;
}

function problemAt(name: string): ArgumentProblem {
  const limit = Number.MAX_SAFE_INTEGER;
  return { name, message: `${name}: too large to be exact; whole numbers go from -${limit} to ${limit}` };
}
