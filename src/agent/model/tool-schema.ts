import { isRecord } from "../../json/is-record.ts";

type Schema = Readonly<Record<string, unknown>>;

const COMBINATIONS = ["allOf", "anyOf", "oneOf"] as const;
/** Providers refuse these at the top; arguments are checked against the whole schema before a call. */
const REFUSED_AT_TOP: ReadonlySet<string> = new Set([...COMBINATIONS, "not", "enum", "const", "if", "then", "else"]);

/** The schema of a tool as providers accept it: an object at the top. Everything below stays as it is. */
export function providerSchema(schema: Schema): Schema {
  const whole = withoutTopReference(schema);
  const branches = COMBINATIONS.flatMap((name) => {
    const listed = whole[name];
    return Array.isArray(listed) ? listed.filter(isRecord).map((branch) => withoutTopReference(branch, whole)) : [];
  });
  const properties = Object.assign({}, ...[...branches, whole].map(propertiesOf)) as Record<string, unknown>;
  const rest = Object.fromEntries(Object.entries(whole).filter(([key]) => !REFUSED_AT_TOP.has(key)));
  return { ...rest, type: "object", properties };
}

function propertiesOf({ properties }: Schema): Schema {
  return isRecord(properties) ? properties : {};
}

/** Follows `$ref` to a definition beside it, once. */
function withoutTopReference(schema: Schema, root: Schema = schema): Schema {
  const { $ref: reference, ...rest } = schema;
  if (typeof reference !== "string") return schema;
  const [, group = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = root[group];
  const found = isRecord(definitions) ? definitions[name] : undefined;
  return isRecord(found) ? { ...found, ...rest } : rest;
}
