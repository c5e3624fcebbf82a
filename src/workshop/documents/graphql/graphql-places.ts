import { isInputObjectType, isInterfaceType, isObjectType, type ASTNode, type GraphQLSchema } from "graphql";
import { isRecord } from "../../../json/is-record.ts";
import type { Evidence } from "../api-facts.ts";

/** Where the parts of a schema are described. */
export interface GraphqlPlaces {
  readonly whole: Evidence;
  /** `path`: a type, then a field, input field or value, then an argument. */
  of(type: string, ...path: readonly string[]): Evidence;
}

interface Described {
  name: string;
  astNode?: ASTNode | null | undefined;
  args?: readonly Described[];
}

/** Lines of a schema in the schema language. */
export class SdlPlaces implements GraphqlPlaces {
  readonly whole: Evidence;
  readonly #document: string;
  readonly #schema: GraphQLSchema;

  constructor(document: string, schema: GraphQLSchema) {
    this.#document = document;
    this.whole = `${document}#L1`;
    this.#schema = schema;
  }

  of(type: string, member?: string, argument?: string): Evidence {
    const owner: Described | undefined = this.#schema.getType(type);
    const found = member === undefined ? owner : memberOf(owner, member);
    const part = argument === undefined ? found : found?.args?.find(({ name }) => name === argument);
    const { loc } = part?.astNode ?? {};
    if (!loc) return this.whole;
    const [from, to] = [lineOf(part), loc.endToken.line];
    return `${this.#document}#L${from}${to > from ? `-L${to}` : ""}`;
  }
}

function memberOf(owner: Described | undefined, member: string): Described | undefined {
  if (!(isObjectType(owner) || isInterfaceType(owner) || isInputObjectType(owner))) return undefined;
  const fields: Record<string, Described> = owner.getFields();
  return Object.hasOwn(fields, member) ? fields[member] : undefined;
}

/** The first line; that of the description, which is a part of it. */
function lineOf(part: Described | null | undefined): number {
  return part?.astNode?.loc?.startToken.line ?? 1;
}

/** Members of an introspection result. */
export class IntrospectionPlaces implements GraphqlPlaces {
  readonly whole: Evidence;
  readonly #types = new Map<string, { place: Evidence; type: Record<string, unknown> }>();

  /** `pointer`: of `__schema`. */
  constructor(document: string, pointer: string, types: readonly unknown[]) {
    this.whole = `${document}#${pointer}`;
    for (const [index, type] of types.entries()) {
      if (!isRecord(type) || typeof type["name"] !== "string") continue;
      this.#types.set(type["name"], { place: `${this.whole}/types/${index}`, type });
    }
  }

  of(type: string, member?: string, argument?: string): Evidence {
    const known = this.#types.get(type);
    if (!known || member === undefined) return known?.place ?? this.whole;
    for (const list of ["fields", "inputFields"]) {
      const found = entryOf(known.type[list], member);
      if (!found) continue;
      const place = `${known.place}/${list}/${found.index}`;
      const inner = argument === undefined ? undefined : entryOf(found.entry["args"], argument);
      return inner ? `${place}/args/${inner.index}` : place;
    }
    return known.place;
  }
}

function entryOf(list: unknown, name: string): { index: number; entry: Record<string, unknown> } | undefined {
  if (!Array.isArray(list)) return undefined;
  const index = list.findIndex((entry) => isRecord(entry) && entry["name"] === name);
  const entry: unknown = list[index];
  return isRecord(entry) ? { index, entry } : undefined;
}
