import { isRecord } from "../json/is-record.ts";
import { mergedSchema, type PartsBudget, type Schema } from "./schema-parts.ts";

/** Maximum number of alternatives for one schema: hostile schemas refer to themselves. */
const MAX_ALTERNATIVES = 10_000;
const MAX_DEPTH = 8;

/** Maximum number of parts that are merged for one root. */
const MAX_PARTS = 50_000;

interface Journey {
  root: Schema;
  alternatives: number;
  parts: PartsBudget;
}

/**
 * A part of a schema together with the whole that its references point into. `schema` has neither `$ref` nor `allOf`:
 * their content is merged.
 */
export class SchemaShape {
  readonly schema: Schema;
  readonly #journey: Journey;
  /** The depth of nested alternatives. */
  readonly #depth: number;

  constructor(schema: unknown, journey?: Journey, depth = 0) {
    const own = isRecord(schema) ? schema : {};
    this.#journey = journey ?? { root: own, alternatives: 0, parts: { left: MAX_PARTS } };
    this.#depth = depth;
    this.schema = mergedSchema(own, this.#journey.root, this.#journey.parts);
  }

  /** The type names that a value may have, in the order of the schema; empty if it has none. */
  get types(): string[] {
    const { type, properties, items, prefixItems } = this.schema;
    if (type !== undefined) return [type].flat().map(String);
    if (isRecord(properties)) return ["object"];
    return items !== undefined || prefixItems !== undefined ? ["array"] : [];
  }

  /** The allowed values, if the schema lists them. */
  get values(): unknown[] | undefined {
    if ("const" in this.schema) return [this.schema["const"]];
    return Array.isArray(this.schema["enum"]) ? (this.schema["enum"] as unknown[]) : undefined;
  }

  /** The alternatives, in the order of the schema; empty if there is only one. */
  get alternatives(): SchemaShape[] {
    const several = this.schema["anyOf"] ?? this.schema["oneOf"];
    if (!Array.isArray(several) || this.#depth >= MAX_DEPTH) return [];
    this.#journey.alternatives += several.length;
    if (this.#journey.alternatives > MAX_ALTERNATIVES) return [];
    return several.filter(isRecord).map((each) => new SchemaShape(each, this.#journey, this.#depth + 1));
  }

  get propertyNames(): string[] {
    const own = isRecord(this.schema["properties"]) ? Object.keys(this.schema["properties"]) : [];
    return [...new Set([...own, ...this.alternatives.flatMap(({ propertyNames }) => propertyNames)])];
  }

  get required(): string[] {
    const { required } = this.schema;
    return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  }

  get takesObject(): boolean {
    return this.#takes("object");
  }

  get takesArray(): boolean {
    return this.#takes("array");
  }

  get takesNull(): boolean {
    return this.#takes("null") || this.alternatives.some(({ values }) => values?.includes(null));
  }

  property(name: string): SchemaShape | undefined {
    const { properties, additionalProperties } = this.schema;
    if (isRecord(properties) && Object.hasOwn(properties, name)) return this.#part(properties[name]);
    for (const alternative of this.alternatives) {
      const found = alternative.propertyNames.includes(name) ? alternative.property(name) : undefined;
      if (found) return found;
    }
    return isRecord(additionalProperties) ? this.#part(additionalProperties) : undefined;
  }

  item(index: number): SchemaShape {
    const { prefixItems, items } = this.schema;
    if (Array.isArray(prefixItems) && index < prefixItems.length) return this.#part(prefixItems[index]);
    if (items !== undefined) return this.#part(items);
    return this.alternatives.find(({ takesArray }) => takesArray)?.item(index) ?? this.#part({});
  }

  #takes(type: string): boolean {
    return this.types.includes(type) || this.alternatives.some((alternative) => alternative.#takes(type));
  }

  #part(schema: unknown): SchemaShape {
    return new SchemaShape(schema, this.#journey);
  }
}
