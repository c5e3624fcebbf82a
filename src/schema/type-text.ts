import { isRecord } from "../json/is-record.ts";
import { percentDecoded } from "../text/percent-decoded.ts";
import { referenced } from "./pointer.ts";
import { resolvedSchema, schemaParts, type PartsBudget } from "./schema-parts.ts";

interface TypeLimits {
  /** Maximum depth of objects; deeper ones are `object`. */
  depth: number;
  /** Maximum number of values of an enumeration. */
  choices: number;
}

const IN_FULL: TypeLimits = { depth: 6, choices: 100 };
const ANYTHING = "any";
/** A limit, because a schema may contain itself in many ways at once. */
const MOST_PARTS = 1_000;

/** A property of an object as a schema describes it. */
interface Property {
  name: string;
  schema: unknown;
  isRequired: boolean;
}

/** Describes JSON Schemas of servers as types: `"a" | "b"`, `string[]`, `{ a: string, b?: integer }`. */
export class SchemaReader {
  readonly #root: unknown;
  readonly #limits: TypeLimits;
  #budget: PartsBudget = { left: MOST_PARTS };

  /** `root` is the schema that references point into. */
  constructor(root: unknown, limits: TypeLimits = IN_FULL) {
    this.#root = root;
    this.#limits = limits;
  }

  type(schema: unknown): string {
    this.#budget = { left: MOST_PARTS };
    return this.#type(schema, { depth: 0, references: [] });
  }

  /** The properties of an object, required ones first. References and `allOf` are followed. */
  properties(schema: unknown): Property[] {
    this.#budget = { left: MOST_PARTS };
    return this.#members(schema);
  }

  #members(schema: unknown): Property[] {
    const found = new Map<string, Property>();
    const required = new Set<unknown>();
    for (const part of schemaParts(schema, this.#root, this.#budget)) {
      for (const [name, property] of Object.entries(isRecord(part["properties"]) ? part["properties"] : {})) {
        found.set(name, { name, schema: property, isRequired: false });
      }
      for (const name of listOf(part["required"])) required.add(name);
    }
    const all = [...found.values()].map((property) => ({ ...property, isRequired: required.has(property.name) }));
    return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
  }

  /** The target of a reference, merged with the members beside it; other schemas unchanged. */
  resolved(schema: unknown): unknown {
    return resolvedSchema(schema, this.#root);
  }

  #type(schema: unknown, at: Position): string {
    if (!isRecord(schema)) return schema === false ? "never" : ANYTHING;
    if (this.#budget.left-- <= 0) return "…";
    if (typeof schema["$ref"] === "string") return this.#referenced(schema["$ref"], at);
    if ("const" in schema) return JSON.stringify(schema["const"]);
    if (Array.isArray(schema["enum"])) return this.#choices(schema["enum"]);
    if (Array.isArray(schema["allOf"]) && this.#members(schema).length > 0) return this.#object(schema, at);
    const own = this.#ownType(schema, at);
    const alternatives = listOf(schema["anyOf"] ?? schema["oneOf"]).map((inner) => this.#type(inner, at));
    // Alternatives of an object with properties usually only say which of them are required.
    const union = alternatives.includes(ANYTHING) || own !== ANYTHING ? [] : alternatives;
    const all = listOf(schema["allOf"]).map((inner) => this.#type(inner, at));
    const known = [own, joined(union), ...all].filter((type) => type !== ANYTHING && type !== "");
    const together = [...new Set(known)];
    const text = together.length > 1 ? together.map(bracketed).join(" & ") : (together[0] ?? ANYTHING);
    return schema["nullable"] === true ? joined([text, "null"]) : text;
  }

  #referenced(reference: string, at: Position): string {
    const name = percentDecoded(reference.split("/").at(-1) ?? reference);
    if (at.references.includes(reference)) return name;
    const target = referenced(reference, this.#root);
    if (target === undefined) return name === "" ? ANYTHING : name;
    return this.#type(target, { ...at, references: [...at.references, reference] });
  }

  #choices(values: readonly unknown[]): string {
    const { choices } = this.#limits;
    const named = values.slice(0, choices).map((value) => JSON.stringify(value));
    return joined(values.length > choices ? [...named, "…"] : named);
  }

  #ownType(schema: Record<string, unknown>, at: Position): string {
    const { type } = schema;
    if (Array.isArray(type)) return joined(type.map((one: unknown) => this.#ownType({ ...schema, type: one }, at)));
    if (type === "object" || (type === undefined && isRecord(schema["properties"]))) return this.#object(schema, at);
    if (type === "array" || (type === undefined && "items" in schema)) return this.#array(schema, at);
    return typeof type === "string" ? type : ANYTHING;
  }

  #array(schema: Record<string, unknown>, at: Position): string {
    const { items } = schema;
    const tuple = Array.isArray(schema["prefixItems"])
      ? schema["prefixItems"]
      : Array.isArray(items)
        ? items
        : undefined;
    if (tuple) return `[${tuple.map((item: unknown) => this.#type(item, at)).join(", ")}]`;
    return `${bracketed(this.#type(items, at))}[]`;
  }

  #object(schema: Record<string, unknown>, at: Position): string {
    const inner = { ...at, depth: at.depth + 1 };
    const own = this.#members(schema);
    const { additionalProperties: others } = schema;
    if (own.length === 0 && isRecord(others) && Object.keys(others).length > 0 && at.depth < this.#limits.depth) {
      return `{ [key]: ${this.#type(others, inner)} }`;
    }
    if (own.length === 0 || at.depth >= this.#limits.depth) return "object";
    const members = own.map((property) => `${memberName(property)}: ${this.#type(property.schema, inner)}`);
    return `{ ${members.join(", ")} }`;
  }
}

interface Position {
  depth: number;
  /** The references followed so far: a type may contain itself. */
  references: readonly string[];
}

/** The name of a property in a signature. */
export function memberName({ name, isRequired }: Pick<Property, "name" | "isRequired">): string {
  const isWord = /^[A-Za-z_$][\w$-]*$/.test(name) || /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name);
  return `${isWord ? name : JSON.stringify(name)}${isRequired ? "" : "?"}`;
}

function joined(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

/** `("a" | "b")[]`: adds brackets if an operator is outside all others. */
function bracketed(type: string): string {
  // Strings and bracketed parts count as one character; the innermost are replaced first.
  let outside = type.replaceAll(/"(?:[^"\\]|\\.)*"/g, "x");
  for (let before = ""; before !== outside;) {
    before = outside;
    outside = outside.replaceAll(/[{[(][^{}[\]()]*[}\])]/g, "x");
  }
  return / [|&] /.test(outside) ? `(${type})` : type;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
