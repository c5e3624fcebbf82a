import type { ErrorObject } from "ajv";
import { explain, explainMismatch, explainMissing, explainUnknown, type SchemaFinding } from "../../schema/explain.ts";
import { locateValue, type SchemaLocation } from "../../schema/location.ts";
import { pointerParts } from "../../schema/pointer.ts";
import { VARIANTS, DATETIME } from "../compile/schema-writer.ts";
import type { ExpectedBranch } from "./branches.ts";

/** One problem of the arguments. */
export interface ArgumentProblem {
  /** `rooms[0].childAges[1]`; empty for the arguments as a whole. */
  name: string;
  /** Contains the name. */
  message: string;
}

/** The validator's error in the words of all schema checks. */
export function argumentProblems(error: ErrorObject, root: unknown): ArgumentProblem[] {
  const { keyword, instancePath, params, parentSchema } = error as ErrorObject<string, Record<string, unknown>>;
  const schema: Record<string, unknown> = parentSchema ?? {};
  const parts = pointerParts(instancePath);
  const location = { ...locateValue(parts, root), schema };
  switch (keyword) {
    case "required":
      return explainMissing(location, [String(params["missingProperty"])]);
    case "additionalProperties": {
      const member = locateValue([...parts, String(params["additionalProperty"])], root);
      return [explainUnknown({ ...member, schema, owner: schema })];
    }
    case "pattern":
      return schema["pattern"] === DATETIME
        ? explain("format", { ...location, schema: { format: "date-time" } })
        : explain(keyword, location);
    case VARIANTS:
      return explainVariants(params, location, root);
    default:
      return orAsReported(explain(keyword, location), error, location);
  }
}

/** A value that is none of several alternatives. */
function explainVariants(params: Record<string, unknown>, location: SchemaLocation, root: unknown): ArgumentProblem[] {
  const { member, values = [], types = [] } = params as Partial<ExpectedBranch>;
  if (member === undefined) return [explainMismatch(location, { types, values })];
  const inner = locateValue([...pointerParts(location.path), member], root);
  if (inner.value === undefined) return explainMissing(location, [member], `, one of ${values.map(String).join(", ")}`);
  return [explainMismatch({ ...inner, schema: {} }, { types: [], values })];
}

/** All keywords of our schemas are explained; for a new one, the validator's own message is used. */
function orAsReported(
  found: SchemaFinding[],
  { message = "" }: ErrorObject,
  { segments }: SchemaLocation,
): ArgumentProblem[] {
  if (found.length > 0) return found;
  const name = segments.join(".");
  return [{ name, message: name === "" ? message : `${name}: ${message}` }];
}
