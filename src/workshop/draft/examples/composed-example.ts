import { isRecord } from "../../../json/is-record.ts";
import type { SchemaFacts } from "../../documents/api-facts.ts";
import { flattenSchema, identityOf } from "../types/flatten-schema.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";

const MAX_MEMBERS = 200;

/** How an example is made of the examples of parts. */
interface Composing {
  side: "input" | "output";
  /** How many objects are inside of each other at most. */
  levels: number;
}

/** The values that a schema shows: examples first, then its default and what else is possible. */
export function schemaExamples({ examples, default: usual, enum: values = [], const: only }: SchemaFacts): unknown[] {
  return [...examples, usual, only, ...values.slice(0, 1)].filter((value) => value !== undefined);
}

/**
 * A value made of the examples of a schema's members. Undefined if there is none; of an answer also if no member has an
 * example or a default, because better ones are made up when it is asked for.
 */
export function composedExample(schema: SchemaFacts | undefined, composing: Composing): unknown {
  if (!schema) return undefined;
  const composer = new Composer(composing.side);
  const value = composer.value(schema, composing.levels, []);
  return composing.side === "input" || composer.isDocumented ? value : undefined;
}

class Composer {
  /** Whether an example or a default is in it, and not only values that a type allows. */
  isDocumented = false;
  readonly #side: Composing["side"];
  #left = MAX_MEMBERS;

  constructor(side: Composing["side"]) {
    this.#side = side;
  }

  value(schema: SchemaFacts, levels: number, open: readonly string[]): unknown {
    if (open.includes(identityOf(schema)) || this.#left-- <= 0) return undefined;
    const { facts } = flattenSchema(schema);
    const shown = schemaExamples(facts).find((value) => isOfType(value, facts.types));
    if (shown !== undefined) {
      if (facts.examples.includes(shown) || shown === facts.default) this.isDocumented = true;
      return shown;
    }
    const within = [...open, identityOf(schema)];
    if (facts.properties.size > 0) return levels > 0 ? this.#members(facts, levels - 1, within) : undefined;
    if (facts.items) {
      const item = this.value(facts.items(), levels, within);
      return item === undefined ? undefined : [item];
    }
    for (const read of [...facts.oneOf, ...facts.anyOf]) {
      const value = this.value(read(), levels, within);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #members({ properties }: SchemaFacts, levels: number, open: readonly string[]): YamlMap | undefined {
    const members: [string, unknown][] = [];
    for (const [name, read] of properties) {
      const member = read();
      if (this.#side === "input" ? member.readOnly : member.writeOnly) continue;
      const value = this.value(member, levels, open);
      if (value !== undefined) members.push([name, value]);
    }
    return members.length === 0 ? undefined : Object.fromEntries(members);
  }
}

/** Many examples are texts whatever the type; the next one may be right. */
function isOfType(value: unknown, types: SchemaFacts["types"]): boolean {
  if (types.length === 0) return true;
  return types.some((type) => {
    if (type === "array") return Array.isArray(value);
    if (type === "object") return isRecord(value);
    if (type === "integer") return Number.isInteger(value);
    return typeof value === type;
  });
}
