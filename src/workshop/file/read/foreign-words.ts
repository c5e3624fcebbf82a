/** Keywords of JSON Schema and OpenAPI that authors use, and what to write instead. */
export const FOREIGN_KEYS: Readonly<Record<string, string>> = {
  required: "Fields are required; write optional: true where one is not.",
  items: "Write list: with the type of the items, in place of type.",
  properties: "Write these fields as a type of their own below types, and its name here.",
  additionalProperties: "Write map: with the type of the values, or additional: at the type.",
  minProperties: "Write minEntries.",
  maxProperties: "Write maxEntries.",
  anyOf: "Write oneOf: with the alternatives.",
  allOf: "Write include: with the types at a type of its own.",
  $ref: "Write type: and the name of a type below types.",
};

const ONE_BY_ONE: Readonly<Record<string, string>> = {
  array: FOREIGN_KEYS["items"] ?? "",
  file: "Write binary.",
  bytes: "Write binary.",
};

const SAME: Readonly<Record<string, string>> = {
  int: "integer",
  int32: "integer",
  int64: "integer",
  long: "integer",
  float: "number",
  double: "number",
  decimal: "number",
  bool: "boolean",
  str: "string",
  text: "string",
  "date-time": "datetime",
  timestamp: "datetime",
};

/** What to write for a type with this name in other formats. */
export function hintForType(name: string): string | undefined {
  if (Object.hasOwn(ONE_BY_ONE, name)) return ONE_BY_ONE[name];
  return Object.hasOwn(SAME, name) ? `Write ${SAME[name]}.` : undefined;
}
