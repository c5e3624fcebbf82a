import type { SchemaFacts } from "../../documents/api-facts.ts";

/** A schema whose `allOf` is merged into it. */
export interface FlatSchema {
  facts: SchemaFacts;
  /** Named objects of its `allOf`, with the names of their members: their types can be included. */
  parts: { schema: SchemaFacts; members: ReadonlySet<string> }[];
  /** Members that parts of it describe differently. */
  conflicts: string[];
}

/** What tells a schema from all others. */
export function identityOf({ identity, evidence }: SchemaFacts): string {
  return identity ?? evidence;
}

const MAX_DEPTH = 24;
/** Parts that name each other twice would otherwise double at each level. */
const MAX_PARTS = 1_000;

/** A schema is looked at wherever something refers to it, and merging costs as much as its parts. */
const FLAT = new WeakMap<SchemaFacts, FlatSchema>();

/** Merges `allOf`, and takes the only alternative of a union for the schema itself. */
export function flattenSchema(schema: SchemaFacts): FlatSchema {
  const known = FLAT.get(schema);
  if (known) return known;
  const flat = flatten(schema, [], { parts: MAX_PARTS });
  FLAT.set(schema, flat);
  return flat;
}

function flatten(schema: SchemaFacts, open: readonly string[], left: { parts: number }): FlatSchema {
  if (open.length > MAX_DEPTH || open.includes(identityOf(schema)) || left.parts-- <= 0) {
    return { facts: { ...schema, allOf: [] }, parts: [], conflicts: [] };
  }
  const within = [...open, identityOf(schema)];
  const only = onlyPart(schema);
  // A wrapper around itself says nothing.
  if (only && !within.includes(identityOf(only))) return flatten(withOuter(only, schema), open, left);
  if (schema.allOf.length === 0) return { facts: schema, parts: [], conflicts: [] };
  const inner = differentParts(schema).map((part) => flatten(part, within, left));
  const conflicts = [...new Set([...inner.flatMap((flat) => flat.conflicts), ...conflictsOf(inner)])];
  const own: SchemaFacts = { ...schema, allOf: [] };
  const facts = inner.reduceRight((merged, { facts: part }) => mergeFacts(merged, part), own);
  const parts = inner.flatMap(({ facts: part }) =>
    isNamedObject(part) ? [{ schema: part, members: new Set(part.properties.keys()) }] : [],
  );
  return { facts, parts, conflicts };
}

function differentParts({ allOf }: SchemaFacts): SchemaFacts[] {
  return [...new Map(allOf.map((part) => part()).map((part) => [identityOf(part), part])).values()];
}

/** A wrapper around one other schema, such as `{ allOf: [Pet], nullable: true }`. */
function onlyPart(schema: SchemaFacts): SchemaFacts | undefined {
  if (schema.properties.size > 0 || schema.enum || schema.const !== undefined || schema.items) return undefined;
  if (schema.required.size > 0 || schema.prefixItems.length > 0 || typeof schema.additional === "function")
    return undefined;
  const parts = [...schema.allOf, ...schema.oneOf, ...schema.anyOf];
  return parts.length === 1 ? parts[0]?.() : undefined;
}

function withOuter(inner: SchemaFacts, outer: SchemaFacts): SchemaFacts {
  return {
    ...inner,
    nullable: inner.nullable || outer.nullable,
    readOnly: inner.readOnly || outer.readOnly,
    writeOnly: inner.writeOnly || outer.writeOnly,
    deprecated: inner.deprecated || outer.deprecated,
    examples: outer.examples.length > 0 ? outer.examples : inner.examples,
    ...(outer.description === undefined ? {} : { description: outer.description }),
    ...(outer.default === undefined ? {} : { default: outer.default }),
    ...(inner.xml === undefined && outer.xml ? { xml: outer.xml } : {}),
    // The name of a named wrapper stays, if what it wraps has none.
    ...(inner.name === undefined && outer.name !== undefined ? { name: outer.name } : {}),
  };
}

function isNamedObject({ name, properties, oneOf, anyOf }: SchemaFacts): boolean {
  return name !== undefined && properties.size > 0 && oneOf.length === 0 && anyOf.length === 0;
}

function conflictsOf(parts: readonly FlatSchema[]): string[] {
  const seen = new Map<string, SchemaFacts>();
  const conflicts: string[] = [];
  for (const { facts } of parts) {
    for (const [member, read] of facts.properties) {
      const other = seen.get(member);
      const schema = read();
      if (other && identityOf(other) !== identityOf(schema) && other.types.join() !== schema.types.join())
        conflicts.push(member);
      seen.set(member, schema);
    }
  }
  return conflicts;
}

/** `own` wins over `part`, except that all of both is required. */
function mergeFacts(own: SchemaFacts, part: SchemaFacts): SchemaFacts {
  const { name: _name, xml: _xml, discriminator: _discriminator, title: _title, ...limits } = part;
  return {
    ...limits,
    ...own,
    types: own.types.length > 0 ? own.types : part.types,
    nullable: own.nullable || part.nullable,
    examples: own.examples.length > 0 ? own.examples : part.examples,
    uniqueItems: own.uniqueItems || part.uniqueItems,
    prefixItems: own.prefixItems.length > 0 ? own.prefixItems : part.prefixItems,
    properties: new Map([...part.properties, ...own.properties]),
    required: new Set([...part.required, ...own.required]),
    additional: own.additional === "undeclared" ? part.additional : own.additional,
    allOf: [],
    oneOf: own.oneOf.length > 0 ? own.oneOf : part.oneOf,
    anyOf: own.anyOf.length > 0 ? own.anyOf : part.anyOf,
    others: [...new Set([...own.others, ...part.others])],
    asJsonSchema: own.asJsonSchema,
  };
}
