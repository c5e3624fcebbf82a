import type { ErrorObject } from "ajv";
import { nearestName } from "../../text/nearest-name.ts";
import { isRecord } from "../../json/is-record.ts";
import { DATETIME } from "../compile/json-schema.ts";

/** One thing that is wrong with the arguments. */
export interface ArgumentProblem {
  /** `rooms[0].childAges[1]`; empty for the arguments as a whole. */
  path: string;
  /** Begins with the path. */
  message: string;
}

const KINDS: Record<string, string> = {
  integer: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};
const MOST_CHOICES = 20;

/** What the validator found, as a caller can use it: which argument, and what it must be. */
export function argumentProblem(error: ErrorObject, root: unknown): ArgumentProblem {
  const at = placeOf(error.instancePath, root);
  const { params, parentSchema = {} } = error as ErrorObject<string, Record<string, unknown>>;
  switch (error.keyword) {
    case "required":
      return missing(at, String(params["missingProperty"]), parentSchema);
    case "additionalProperties":
      return unknown(at, String(params["additionalProperty"]), parentSchema);
    default:
      return said(at.path, demand(error, at.value));
  }
}

function demand({ keyword, params, message }: ErrorObject<string, Record<string, unknown>>, value: unknown): string {
  const { limit } = params;
  switch (keyword) {
    case "type":
      return `must be ${KINDS[String(params["type"])] ?? String(params["type"])}, not ${kindOf(value)}`;
    case "minimum":
      return `must be at least ${String(limit)}`;
    case "maximum":
      return `must be at most ${String(limit)}`;
    case "minLength":
      return `must have at least ${counted(limit, "character")}`;
    case "maxLength":
      return `must have at most ${counted(limit, "character")}`;
    case "minItems":
      return `must have at least ${counted(limit, "item")}`;
    case "maxItems":
      return `must have at most ${counted(limit, "item")}`;
    case "enum":
      return choice((params["allowedValues"] as unknown[] | undefined) ?? [], value);
    case "format":
      return params["format"] === "date"
        ? "must be a date that exists, written YYYY-MM-DD"
        : `must be a ${String(params["format"])}`;
    case "pattern":
      return params["pattern"] === DATETIME
        ? "must be a date with a time, written YYYY-MM-DDThh:mm:ss"
        : `must match ${String(params["pattern"])}`;
    default:
      return message ?? "is not as the schema says";
  }
}

function choice(allowed: readonly unknown[], value: unknown): string {
  const names = allowed.map(String);
  const more = names.length > MOST_CHOICES ? ` and ${names.length - MOST_CHOICES} more` : "";
  const near = typeof value === "string" ? nearestName(value, names) : undefined;
  const list = names.slice(0, MOST_CHOICES).join(", ");
  return `must be one of ${list}${more}${near === undefined ? "" : `: did you mean ${near}?`}`;
}

function missing(at: Place, name: string, schema: object): ArgumentProblem {
  const known = propertiesOf(schema);
  const near = nearestName(
    name,
    Object.keys(isRecord(at.value) ? at.value : {}).filter((each) => !known.includes(each)),
  );
  return said(joined(at.path, name), `is missing${near === undefined ? "" : `: is ${near} meant to be it?`}`);
}

function unknown(at: Place, name: string, schema: object): ArgumentProblem {
  const given = isRecord(at.value) ? at.value : {};
  const free = propertiesOf(schema).filter((each) => !Object.hasOwn(given, each));
  const near = nearestName(name, free);
  if (near !== undefined) return said(joined(at.path, name), `is not known: did you mean ${near}?`);
  // What the arguments themselves take is told once for all problems.
  const names = at.path === "" ? "" : `: ${at.path} takes ${propertiesOf(schema).join(", ")}`;
  return said(joined(at.path, name), `is not known${names}`);
}

interface Place {
  path: string;
  value: unknown;
}

/** The validator names places by JSON pointers; what is a list can only be told from the value. */
function placeOf(pointer: string, root: unknown): Place {
  let value = root;
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path = Array.isArray(value) ? `${path}[${name}]` : joined(path, name);
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return { path, value };
}

function said(path: string, what: string): ArgumentProblem {
  return { path, message: `${path === "" ? "The arguments" : path} ${what}` };
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function propertiesOf(schema: object): string[] {
  return "properties" in schema && isRecord(schema.properties) ? Object.keys(schema.properties) : [];
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return String(value);
  return KINDS[Array.isArray(value) ? "array" : typeof value] ?? typeof value;
}

function counted(count: unknown, what: string): string {
  return `${String(count)} ${what}${count === 1 ? "" : "s"}`;
}
