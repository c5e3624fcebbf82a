import {
  getNamedType,
  isLeafType,
  isNonNullType,
  isRequiredArgument,
  buildASTSchema,
  buildClientSchema,
  GraphQLError,
  Kind,
  parse,
  specifiedScalarTypes,
  visit,
  isObjectType,
  isInterfaceType,
  isInputObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  type IntrospectionQuery,
  type ASTNode,
} from "graphql";
import { plainSchema } from "../inferred-schema.ts";
import type { ApiFacts, BodyFacts, OmittedOperation, OperationFacts, Remark, Evidence } from "../api-facts.ts";
import { unreadable, type LoadedDocument } from "../parse-document.ts";
import { GraphqlSchemas, isFileType, type GraphqlPlaces } from "./graphql-schemas.ts";
import { Selections } from "./selection.ts";
import { messageOf } from "../../../errors/nexus-error.ts";
import { isRecord } from "../../../json/is-record.ts";
import { visible } from "../../../text/visible.ts";

type Field = GraphQLField<unknown, unknown>;
type Root = "query" | "mutation";

/** How many names a question lists. */
const MOST_NAMED = 20;

/** Reads a GraphQL schema: each field of its queries and mutations is an operation, with a selection that is written here. */
export function readGraphql(document: LoadedDocument): ApiFacts {
  return new Reader(document).read();
}

class Reader {
  readonly #document: LoadedDocument;
  readonly #read: ReadSchema;
  readonly #selections: Selections;
  readonly #schemas: GraphqlSchemas;
  readonly #omitted: OmittedOperation[] = [];

  constructor(document: LoadedDocument) {
    this.#document = document;
    this.#read = readSchema(document);
    this.#selections = new Selections(this.#read.schema);
    this.#schemas = new GraphqlSchemas(this.#read.places, this.#selections);
  }

  read(): ApiFacts {
    const { schema, places } = this.#read;
    const roots = [
      ["query", schema.getQueryType()],
      ["mutation", schema.getMutationType()],
    ] as const;
    const operations = roots.flatMap(([kind, type]) => (type ? this.#operations(kind, type) : []));
    const subscriptions = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
    for (const { name } of subscriptions) {
      const evidence = places.of(schema.getSubscriptionType()?.name ?? "", name);
      this.#omitted.push({ key: `subscription ${name}`, reason: "stream", detail: "a subscription", evidence });
    }
    return {
      format: this.#document.format,
      title: titleOf(this.#document),
      version: "1.0.0",
      ...(typeof schema.description === "string" && { description: schema.description }),
      servers: [],
      security: {},
      tags: roots.flatMap(([name, type]) => (type ? [{ name }] : [])),
      operations,
      omitted: this.#omitted,
      remarks: this.#remarks(operations.length),
    };
  }

  #remarks(operations: number): Remark[] {
    const { places, unknown } = this.#read;
    const remarks = this.#document.remarks.map((text) => ({ text, evidence: places.whole }));
    for (const name of unknown.slice(0, 20)) {
      const text = `The type ${name} is used and not described: any value is accepted.`;
      remarks.push({ text, evidence: places.whole });
    }
    for (const { type, of, names } of this.#selections.omissions().slice(0, 20)) {
      const shown = names.slice(0, MOST_NAMED).join(", ");
      const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
      const text = `${type} has more ${of} than a query asks for. Left out are ${shown}${more}. Is one of them needed? Then add it to the query of the tool and to the type of its answer.`;
      remarks.push({ text, evidence: places.of(type) });
    }
    if (operations > 0) {
      const text =
        "The selections go two levels deep and leave out deprecated fields and those that need arguments. Is a field missing? Then add it to the query of the tool and to the type of its answer.";
      remarks.push({ text, evidence: places.whole });
    }
    return remarks;
  }

  #operations(root: Root, type: GraphQLObjectType): OperationFacts[] {
    return Object.values(type.getFields()).flatMap((field) => {
      const problem = this.#problemOf(field);
      const evidence = this.#read.places.of(type.name, field.name);
      if (!problem) return [this.#operation(root, type, field)];
      this.#omitted.push({ key: `${root} ${field.name}`, ...problem, evidence });
      return [];
    });
  }

  #problemOf(field: Field): Pick<OmittedOperation, "reason" | "detail"> | undefined {
    const file = field.args.find((argument) => isRequiredArgument(argument) && isFileType(argument.type));
    if (file) return { reason: "unsupported-body", detail: `the argument ${file.name} is a file` };
    const type = getNamedType(field.type);
    if (isLeafType(type) || this.#selections.of(type)) return undefined;
    return { reason: "no-selection", detail: `fields of ${type.name}` };
  }

  #operation(root: Root, owner: GraphQLObjectType, field: Field): OperationFacts {
    const { places } = this.#read;
    const evidence = places.of(owner.name, field.name);
    const selection = this.#selections.of(getNamedType(field.type));
    const args = field.args.filter(({ type }) => !isFileType(type));
    const answer = this.#schemas.output(field.type, selection, { given: {}, evidence });
    const content = { mediaType: "application/json", schema: answer, examples: [], encoding: {}, evidence };
    return {
      key: `${root} ${field.name}`,
      id: field.name,
      method: "POST",
      path: "/graphql",
      ...(typeof field.description === "string" && { description: field.description }),
      tags: [root],
      deprecated: typeof field.deprecationReason === "string",
      parameters: [],
      body: this.#body(owner, field, args),
      responses: [{ status: "200", contents: [content], headers: [], evidence }],
      security: [],
      effect: root === "query" ? "read" : "write",
      graphql: { document: documentText(root, field, args, selection?.text), field: field.name },
      evidence,
    };
  }

  #body(owner: GraphQLObjectType, field: Field, args: readonly GraphQLArgument[]): BodyFacts {
    const evidence = this.#read.places.of(owner.name, field.name);
    const members = args.map((argument) => {
      const place = this.#read.places.of(owner.name, field.name, argument.name);
      return [argument.name, () => this.#schemas.input(argument.type, argument, place)] as const;
    });
    const schema = {
      ...plainSchema(evidence, ["object"]),
      properties: new Map(members),
      required: new Set(args.filter(isRequiredArgument).map(({ name }) => name)),
    };
    const content = { mediaType: "application/json", schema, examples: [], encoding: {}, evidence };
    return { required: true, contents: [content], evidence };
  }
}

/** `query user($id: ID!) { user(id: $id) { id name } }` */
function documentText(
  root: Root,
  { name }: Field,
  args: readonly GraphQLArgument[],
  selection: string | undefined,
): string {
  const declared = args.map((argument) => {
    // Left out, the default of the argument counts.
    const type = isRequiredArgument(argument) || !isNonNullType(argument.type) ? argument.type : argument.type.ofType;
    return `$${argument.name}: ${String(type)}`;
  });
  const given = args.map((argument) => `${argument.name}: $${argument.name}`);
  const inParentheses = (parts: readonly string[]) => (parts.length === 0 ? "" : `(${parts.join(", ")})`);
  const called = `${name}${inParentheses(given)}${selection === undefined ? "" : ` ${selection}`}`;
  return `${root} ${name}${inParentheses(declared)} { ${called} }`;
}

function titleOf({ name, source = "" }: LoadedDocument): string {
  const file = source.replace(/^.*[/\\]/, "").replace(/\.[^.]*$/, "");
  return file === "" || /^(?:schema|introspection|graphql)$/i.test(file) ? `GraphQL (${name})` : file;
}

/** A schema, and where its parts are described. */
interface ReadSchema {
  schema: GraphQLSchema;
  places: GraphqlPlaces;
  /** Types that are used and not described; they are scalars here. */
  unknown: string[];
}

/** The largest known schemas have about 500,000 tokens. Each is kept in memory, with about 300 bytes. */
const MAX_TOKENS = 600_000;
const MAX_TYPES = 25_000;
/** Of one type, and arguments of one field. */
const MAX_MEMBERS = 10_000;
/** The beginning of a definition, or a comment: each of both takes memory, whether it is used or not. */
const DEFINITION = /^[ \t]*#|\b(?:type|interface|union|enum|input|scalar|directive)[ \t]+[@A-Za-z_]/gm;
/** The name of a type, where its members begin and end, and a line with a member. */
const MEMBER = /\b(?:type|interface|input|enum)[ \t]+([A-Za-z_]\w*)|[{}]|^[ \t]*\w+[ \t]*[(:]/gm;

/** Reads a schema in the schema language, or the result of an introspection query. */
function readSchema(document: LoadedDocument): ReadSchema {
  try {
    return document.format === "graphql" ? ofText(document) : ofIntrospection(document);
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(document.name, "is nested too deep");
    if (!(error instanceof GraphQLError) && !(error instanceof Error)) throw error;
    if (error instanceof Error && "code" in error) throw error;
    const [place] = error instanceof GraphQLError ? (error.locations ?? []) : [];
    const at = place ? ` in line ${place.line}, column ${place.column}` : "";
    const problem = visible(messageOf(error).slice(0, 300));
    if (/token limit|tokens\. Parsing aborted/i.test(problem)) throw tooLarge(document.name, "has too many parts");
    throw unreadable(
      `The GraphQL schema ${document.name} cannot be read${at}: ${problem}`,
      "Correct it, or export it again: the schema language (SDL), or the result of an introspection query as JSON.",
      { cause: error },
    );
  }
}

function ofText({ text, name }: LoadedDocument): ReadSchema {
  checkDefinitions(text, name);
  const parsed = parse(text, { maxTokens: MAX_TOKENS });
  if (parsed.definitions.length > MAX_TYPES) throw tooLarge(name, MANY_DEFINITIONS);
  checkMembers(parsed, name);
  const { document, unknown } = completed(parsed);
  // Schemas of gateways use directives and types that other parts of them declare.
  const schema = buildASTSchema(document, { assumeValid: true, assumeValidSDL: true });
  return { schema, places: new SdlPlaces(name, schema), unknown };
}

const MANY_DEFINITIONS = `has more than ${MAX_TYPES} definitions or comments`;

/** Before they are parsed, which takes memory. Descriptions have the same words: three times as many are allowed. */
function checkDefinitions(text: string, name: string): void {
  let count = 0;
  for (const _ of text.matchAll(DEFINITION)) if (++count > 3 * MAX_TYPES) throw tooLarge(name, MANY_DEFINITIONS);
  let owner = "";
  count = 0;
  for (const [found, type] of text.matchAll(MEMBER)) {
    if (type !== undefined) owner = type;
    else if (found === "{" || found === "}") count = 0;
    else if (++count > 3 * MAX_MEMBERS) throw manyMembers(name, owner);
  }
}

function manyMembers(name: string, owner: string): Error {
  return tooLarge(name, `has more than ${MAX_MEMBERS} fields in the type ${owner}`);
}

function checkMembers({ definitions }: DocumentNode, name: string): void {
  const counts = new Map<string, number>();
  for (const definition of definitions) {
    if (!("fields" in definition) || !definition.fields) continue;
    const owner = definition.name.value;
    const count = (counts.get(owner) ?? 0) + definition.fields.length;
    counts.set(owner, count);
    const most = definition.fields.reduce((max, field) => {
      return Math.max(max, "arguments" in field ? (field.arguments?.length ?? 0) : 0);
    }, count);
    if (most > MAX_MEMBERS) throw manyMembers(name, owner);
  }
}

function ofIntrospection({ value, name }: LoadedDocument): ReadSchema {
  const isWrapped = isRecord(value) && isRecord(value["data"]);
  const whole = isWrapped ? (value["data"] as Record<string, unknown>) : value;
  const described = isRecord(whole) ? whole["__schema"] : undefined;
  const types: unknown = isRecord(described) ? described["types"] : undefined;
  if (!Array.isArray(types)) {
    throw unreadable(
      `The introspection result ${name} has no types`,
      "Run the complete introspection query (getIntrospectionQuery of the graphql library) and save its result.",
    );
  }
  if (types.length > MAX_TYPES) throw tooLarge(name, `has more than ${MAX_TYPES} types`);
  for (const type of types) {
    const lists = isNamed(type) ? [type["fields"], type["inputFields"]] : [];
    if (lists.some(isTooLong)) throw tooLarge(name, `has more than ${MAX_MEMBERS} fields in one type`);
  }
  // Servers may leave out what no client needs.
  const filled = { __schema: { directives: [], ...(described as object), types: types.filter(isNamed).map(complete) } };
  const schema = buildClientSchema(filled as unknown as IntrospectionQuery, { assumeValid: true });
  return { schema, places: new IntrospectionPlaces(name, `${isWrapped ? "/data" : ""}/__schema`, types), unknown: [] };
}

function isTooLong(list: unknown): boolean {
  if (!Array.isArray(list)) return false;
  return list.length > MAX_MEMBERS || list.some((each) => isRecord(each) && isTooLong(each["args"]));
}

function isNamed(type: unknown): type is Record<string, unknown> {
  return isRecord(type) && typeof type["name"] === "string" && typeof type["kind"] === "string";
}

/** Results of old servers lack members that clients expect. */
function complete(type: Record<string, unknown>): Record<string, unknown> {
  const isObject = type["kind"] === "OBJECT" || type["kind"] === "INTERFACE";
  const fields = Array.isArray(type["fields"]) ? (type["fields"] as unknown[]).filter(isRecord) : [];
  return {
    ...type,
    ...(isObject && {
      interfaces: type["interfaces"] ?? [],
      fields: fields.map((field) => ({ ...field, args: field["args"] ?? [] })),
    }),
  };
}

/**
 * With a definition for every type that is used. A type that is only extended is one of another part of a larger
 * schema, and defined here by its extension.
 */
function completed(document: DocumentNode): { document: DocumentNode; unknown: string[] } {
  const defined = new Set(specifiedScalarTypes.map(({ name }) => name));
  const definitions: DefinitionNode[] = [];
  for (const definition of document.definitions) if (isTypeDefinition(definition)) defined.add(definition.name.value);
  for (const definition of document.definitions) {
    const kind = DEFINED_BY[definition.kind];
    const name = "name" in definition ? definition.name?.value : undefined;
    if (kind === undefined || name === undefined || defined.has(name)) definitions.push(definition);
    else {
      defined.add(name);
      definitions.push({ ...definition, kind } as DefinitionNode);
    }
  }
  const unknown = new Set<string>();
  const whole: DocumentNode = { ...document, definitions };
  visit(whole, {
    NamedType: ({ name }) => {
      if (!defined.has(name.value)) unknown.add(name.value);
    },
  });
  const scalars = [...unknown].map((value): DefinitionNode => {
    return { kind: Kind.SCALAR_TYPE_DEFINITION, name: { kind: Kind.NAME, value } };
  });
  return { document: { ...whole, definitions: [...definitions, ...scalars] }, unknown: [...unknown] };
}

const DEFINED_BY: Readonly<Partial<Record<Kind, Kind>>> = {
  [Kind.OBJECT_TYPE_EXTENSION]: Kind.OBJECT_TYPE_DEFINITION,
  [Kind.INTERFACE_TYPE_EXTENSION]: Kind.INTERFACE_TYPE_DEFINITION,
  [Kind.UNION_TYPE_EXTENSION]: Kind.UNION_TYPE_DEFINITION,
  [Kind.ENUM_TYPE_EXTENSION]: Kind.ENUM_TYPE_DEFINITION,
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: Kind.INPUT_OBJECT_TYPE_DEFINITION,
  [Kind.SCALAR_TYPE_EXTENSION]: Kind.SCALAR_TYPE_DEFINITION,
};

function isTypeDefinition(node: DefinitionNode): node is Extract<DefinitionNode, { name: { value: string } }> {
  return Object.values(DEFINED_BY).includes(node.kind) && "name" in node;
}

function tooLarge(name: string, problem: string): Error {
  return unreadable(
    `The GraphQL schema ${name} ${problem}, the limit`,
    "Leave out types that the tools do not need, and import the rest.",
  );
}

interface Described {
  name: string;
  astNode?: ASTNode | null | undefined;
  args?: readonly Described[];
}

/** Lines of a schema in the schema language. */
class SdlPlaces implements GraphqlPlaces {
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
class IntrospectionPlaces implements GraphqlPlaces {
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
