import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from "graphql";

/** What is selected of the values of a type. */
export type FieldSelection = ObjectSelection | AbstractSelection;

export interface ObjectSelection {
  kind: "object";
  type: GraphQLObjectType;
  fields: SelectedField[];
  /** In the query language, with its braces. */
  text: string;
  /** The number of its fields, also inside. */
  size: number;
}

/** An interface or a union: a part for each type that a value can have. */
interface AbstractSelection {
  kind: "abstract";
  type: GraphQLAbstractType;
  of: ObjectSelection[];
  text: string;
  size: number;
}

interface SelectedField {
  /** Its name in the answer. */
  key: string;
  field: GraphQLField<unknown, unknown>;
  inner?: FieldSelection;
}

/** What is left out of every selection of a type, because it has too many. */
interface Omission {
  type: string;
  of: "types" | "fields";
  names: string[];
}

/** How many levels of objects are selected inside of the answer. */
export const TOP_LEVEL = 2;
/** The most fields by level; what does not fit is left out, the fields of the type itself last. */
const BUDGET = [60, 80, 160];
const MOST_OWN = 200;
const MOST_TYPES = 12;
/** Objects that only contain others do not count as levels. */
const MOST_NESTED = 50;
/** The items that are asked for inside of another object, where the field says how many. */
const INNER_ITEMS = 10;

/**
 * Writes the selections of operations. The selection of a type depends on its level alone, so that the same type is
 * the same in many tools. Fields that need arguments and deprecated ones are left out.
 */
export class Selections {
  readonly #schema: GraphQLSchema;
  readonly #known = new Map<string, FieldSelection | undefined>();
  readonly #open = new Set<string>();
  readonly #omissions = new Map<string, Omission>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Undefined if nothing can be selected. */
  of(type: GraphQLNamedType, level = TOP_LEVEL): FieldSelection | undefined {
    const key = `${type.name} ${level}`;
    if (this.#known.has(key)) return this.#known.get(key);
    // A value that only contains values of its own type.
    if (this.#open.has(key) || this.#open.size > MOST_NESTED) return undefined;
    this.#open.add(key);
    const found = isObjectType(type)
      ? this.#object(type, level)
      : isAbstractType(type)
        ? this.#abstract(type, level)
        : undefined;
    this.#open.delete(key);
    this.#known.set(key, found);
    return found;
  }

  /** What the selections made so far do not have. */
  omissions(): Omission[] {
    return [...this.#omissions.values()];
  }

  #object(type: GraphQLObjectType, level: number): ObjectSelection | undefined {
    const usable = Object.values(type.getFields()).filter(isUsable);
    const current = usable.filter(({ deprecationReason }) => typeof deprecationReason !== "string");
    const fields = current.length > 0 ? current : usable;
    const chosen = new Map<string, SelectedField>();
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)));
    for (const field of leaves.slice(0, MOST_OWN)) chosen.set(field.name, { key: field.name, field });
    this.#omit(type, "fields", leaves.slice(MOST_OWN));
    let size = chosen.size;
    const wraps = isWrapper(type);
    const isHollow = size === 0 && level === 0;
    for (const field of fields) {
      const inner = getNamedType(field.type);
      if (isLeafType(inner) || (wraps && isRepeated(field, type))) continue;
      const below = this.#levelBelow(type, inner, { level, isHollow });
      if (below < 0) continue;
      const found = [below, 0]
        .map((each) => this.of(inner, each))
        .find((each) => each && size + each.size < (BUDGET[level] ?? 0));
      if (!found) continue;
      size += 1 + found.size;
      chosen.set(field.name, { key: field.name, field, inner: found });
    }
    const selected = fields.flatMap((field) => chosen.get(field.name) ?? []);
    return selected.length === 0 ? undefined : { ...objectText(type, selected), size };
  }

  /** Lists in pages cost two levels, and a value inside of one of its own type has no others inside. */
  #levelBelow(
    type: GraphQLObjectType,
    inner: GraphQLNamedType,
    { level, isHollow }: { level: number; isHollow: boolean },
  ): number {
    if (isWrapper(type)) return level;
    if (isHollow) return 0;
    if (isWrapper(inner)) return level - 2;
    return inner === type ? Math.min(0, level - 1) : level - 1;
  }

  #abstract(type: GraphQLAbstractType, level: number): AbstractSelection | undefined {
    const types = this.#schema.getPossibleTypes(type);
    const isMany = types.length > MOST_TYPES;
    this.#omit(type, "types", types.slice(MOST_TYPES));
    for (let below = isMany ? 0 : level; below >= 0; below--) {
      const found = types.slice(0, MOST_TYPES).map((each) => this.of(each, below));
      const of = withAliases(found.filter((each) => each?.kind === "object"));
      const size = of.reduce((sum, each) => sum + each.size + 1, 0);
      if (of.length === 0) return undefined;
      if (below > 0 && size > (BUDGET[level] ?? 0)) continue;
      const parts = of.map(({ type: { name }, text }) => `... on ${name} ${text}`);
      return { kind: "abstract", type, of, text: `{ __typename ${parts.join(" ")} }`, size };
    }
    return undefined;
  }

  #omit({ name: type }: GraphQLNamedType, of: Omission["of"], left: readonly { name: string }[]): void {
    if (left.length > 0) this.#omissions.set(type, { type, of, names: left.map(({ name }) => name) });
  }
}

function objectText(
  type: GraphQLObjectType,
  fields: SelectedField[],
): Pick<ObjectSelection, "kind" | "type" | "fields" | "text"> {
  const parts = fields.map(({ key, field, inner }) => {
    const name = key === field.name ? key : `${key}: ${field.name}`;
    return `${name}${itemsArgument(field)}${inner ? ` ${inner.text}` : ""}`;
  });
  return { kind: "object", type, fields, text: `{ ${parts.join(" ")} }` };
}

/** Whether it can be asked for without knowing more: all that it needs is a number of items. */
function isUsable(field: GraphQLField<unknown, unknown>): boolean {
  return field.args.every((argument) => !isRequiredArgument(argument) || isItemCount(argument.name, field));
}

function isItemCount(name: string, { args, type }: GraphQLField<unknown, unknown>): boolean {
  if (name !== "first" || isLeafType(getNamedType(type))) return false;
  return args.some((argument) => argument.name === "first" && getNamedType(argument.type).name === "Int");
}

/** `(first: 10)`: lists inside of others are not asked for completely. */
function itemsArgument(field: GraphQLField<unknown, unknown>): string {
  return isItemCount("first", field) ? `(first: ${INNER_ITEMS})` : "";
}

/** A connection, or an edge of one: its node is not a level of its own. */
function isWrapper(type: GraphQLNamedType): boolean {
  if (!isObjectType(type)) return false;
  const fields = type.getFields();
  if (Object.hasOwn(fields, "pageInfo") && (Object.hasOwn(fields, "edges") || Object.hasOwn(fields, "nodes")))
    return true;
  return Object.hasOwn(fields, "node") && Object.hasOwn(fields, "cursor");
}

/** The edges of a connection that also has its nodes. */
function isRepeated({ name }: GraphQLField<unknown, unknown>, type: GraphQLObjectType): boolean {
  return name === "edges" && Object.hasOwn(type.getFields(), "nodes");
}

/** Fields of one name must have one type, also in parts for different types: others get a name of their own. */
function withAliases(parts: readonly ObjectSelection[]): ObjectSelection[] {
  const kinds = new Map<string, Set<string>>();
  for (const { fields } of parts) {
    for (const selected of fields) {
      const known = kinds.get(selected.key) ?? new Set();
      kinds.set(selected.key, known.add(kindOf(selected)));
    }
  }
  return parts.map((part) => {
    if (part.fields.every(({ key }) => (kinds.get(key)?.size ?? 0) < 2)) return part;
    const fields = part.fields.map((selected) => {
      const isShared = (kinds.get(selected.key)?.size ?? 0) > 1;
      return isShared ? { ...selected, key: `${selected.key}_${part.type.name}` } : selected;
    });
    return { ...part, ...objectText(part.type, fields) };
  });
}

function kindOf({ field, inner }: SelectedField): string {
  return `${String(field.type)} ${itemsArgument(field)} ${inner?.text ?? ""}`;
}
