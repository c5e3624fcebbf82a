import type { FixedValue, ParameterStyle, RequestSpec } from "../../file/model/tool-file.ts";

/** A parameter with the value of a field. */
export interface FieldParameter {
  field: string;
  style: ParameterStyle;
}

/** The styles of parameters that only name their field. */
const USUAL = { query: "repeat", cookies: "repeat", headers: "comma" } as const;

/** A parameter in its long form. */
export function parameterOf(
  parameter: RequestSpec["headers"][string],
  place: keyof typeof USUAL,
): FieldParameter | FixedValue {
  return typeof parameter === "string" ? { field: parameter, style: USUAL[place] } : parameter;
}
