import { isRecord } from "../../json/is-record.ts";
import { AlternativeChooser } from "../codec/union/alternative-chooser.ts";
import type { Shape, ToolFile } from "../file/model/tool-file.ts";
import { findType, findUnion } from "../shape/shape-parts.ts";
import type { ArgumentProblem } from "./argument-problem.ts";
import { pathOf, type ValuePlace } from "./value-place.ts";

/** A double keeps this many significant digits. */
const KEPT_DIGITS = 15;

/**
 * Numbers that may have lost digits in JSON, whose numbers are doubles: whole numbers beyond the exact range, and other
 * large numbers with more digits than a double keeps. 6e23 is exact as written. At most `most` are reported.
 */
export function inexactNumbers(file: ToolFile, type: string, value: unknown, most: number): ArgumentProblem[] {
  // Looked for first without shapes and paths, because hardly any arguments have one.
  if (!holdsLargeNumber(value)) return [];
  const chooser = new AlternativeChooser(file.types, "names", "input");
  const found: ArgumentProblem[] = [];
  collect({ kind: "object", type }, value, undefined);
  return found;

  function collect(given: Shape | undefined, value: unknown, place: ValuePlace): void {
    if (found.length >= most) return;
    if (typeof value === "number") {
      const scalar = given?.kind === "scalar" ? given : undefined;
      if (mayHaveLost(value, scalar?.type === "integer")) found.push(problemAt(pathOf(place), scalar?.exact === true));
      return;
    }
    if (typeof value !== "object" || value === null) return;
    const union = given && findUnion(file, given);
    const shape = union ? chooser.choose(union, value)?.shape : given;
    if (Array.isArray(value)) {
      const of = shape?.kind === "list" ? shape.of : undefined;
      for (let index = 0; index < value.length; index++) collect(of, value[index], { above: place, step: index });
    } else if (isRecord(value)) {
      for (const name of Object.keys(value)) {
        collect(memberOf(shape, name), value[name], { above: place, step: name });
      }
    }
  }

  /** Undefined for anything without a declared shape, which is looked at all the same. */
  function memberOf(shape: Shape | undefined, name: string): Shape | undefined {
    if (shape?.kind === "map") return shape.of;
    const type = shape?.kind === "object" ? findType(file, shape.type) : undefined;
    if (!type) return undefined;
    return Object.hasOwn(type.fields, name) ? type.fields[name]?.shape : type.additional;
  }
}

function holdsLargeNumber(value: unknown): boolean {
  if (typeof value === "number") return isLarge(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsLargeNumber);
  for (const name of Object.keys(value)) if (holdsLargeNumber((value as Record<string, unknown>)[name])) return true;
  return false;
}

function isLarge(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function mayHaveLost(value: number, isInteger: boolean): boolean {
  if (!isLarge(value)) return false;
  return isInteger || Number(value.toPrecision(KEPT_DIGITS)) !== value;
}

function problemAt(name: string, isExact: boolean): ArgumentProblem {
  const limit = Number.MAX_SAFE_INTEGER;
  const advice = isExact ? "write it as text, in quotes" : `whole numbers go from -${limit} to ${limit}`;
  return { name, message: `${name}: too large to be exact; ${advice}` };
}
