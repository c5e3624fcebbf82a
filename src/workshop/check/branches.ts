import { isRecord } from "../../json/is-record.ts";

type Schema = Readonly<Record<string, unknown>>;
type Definitions = Readonly<Record<string, unknown>>;

/** What would have been valid where no alternative matches: values of a member, or types. */
export interface ExpectedBranch {
  member?: string;
  values: unknown[];
  types: string[];
}

/** The alternatives that a value may match, the most likely first. Only its own members are looked at. */
export function rankedBranches(branches: readonly Schema[], definitions: Definitions, value: unknown): number[] {
  return branches
    .map((branch, index) => ({ index, rank: rankOf(resolved(branch, definitions), value) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((a, b) => (b.rank ?? 0) - (a.rank ?? 0))
    .map(({ index }) => index);
}

/** What the alternatives expect, for a value that matches none. */
export function expectedOf(branches: readonly Schema[], definitions: Definitions, value: unknown): ExpectedBranch {
  const schemas = branches.map((branch) => resolved(branch, definitions));
  const tags = schemas.flatMap((schema) => tagsOf(schema));
  const [first] = tags;
  if (isRecord(value) && first && tags.every(({ member }) => member === first.member)) {
    return { member: first.member, values: tags.flatMap(({ values }) => values), types: [] };
  }
  const types = schemas.flatMap(({ type }) => (typeof type === "string" ? [type] : Array.isArray(type) ? type : []));
  return { values: [], types: [...new Set(types.map(String))] };
}

function resolved(schema: Schema, definitions: Definitions): Schema {
  const { $ref } = schema;
  const target = typeof $ref === "string" ? definitions[$ref.split("/").at(-1) ?? ""] : undefined;
  return isRecord(target) ? target : schema;
}

/** Required members that have one of a few fixed values. */
function tagsOf({ properties, required }: Schema): { member: string; values: unknown[] }[] {
  if (!isRecord(properties) || !Array.isArray(required)) return [];
  return (required as string[]).flatMap((member) => {
    const schema = properties[member];
    if (!isRecord(schema) || "type" in schema) return [];
    const values = "const" in schema ? [schema["const"]] : schema["enum"];
    return Array.isArray(values) ? [{ member, values }] : [];
  });
}

/** Undefined if it cannot match. */
function rankOf(schema: Schema, value: unknown): number | undefined {
  const { type, properties, required, additionalProperties } = schema;
  if (type !== undefined && !matches([type].flat().map(String), value)) return undefined;
  const { enum: values } = schema;
  if (Array.isArray(values)) return values.includes(value) ? 1_000 : undefined;
  if (!isRecord(value) || !isRecord(properties)) return type === undefined ? 0 : 1;
  if (!tagsOf(schema).every(({ member, values: tag }) => tag.includes(value[member]))) return undefined;
  let rank = 1;
  for (const member of Object.keys(value)) {
    if (!Object.hasOwn(properties, member)) rank -= additionalProperties === false ? 20 : 1;
    else rank += fits(properties[member], value[member]) ? 2 : -20;
  }
  for (const member of Array.isArray(required) ? (required as string[]) : []) {
    if (!Object.hasOwn(value, member)) rank -= 20;
  }
  return rank;
}

function fits(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema)) return true;
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.includes(value);
  return type === undefined || matches([type].flat().map(String), value);
}

function matches(types: readonly string[], value: unknown): boolean {
  if (value === null) return types.includes("null");
  if (Array.isArray(value)) return types.includes("array");
  if (typeof value === "number")
    return types.includes("number") || (types.includes("integer") && Number.isInteger(value));
  return types.includes(typeof value);
}
