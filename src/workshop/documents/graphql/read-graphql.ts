import {
  getNamedType,
  isLeafType,
  isNonNullType,
  isRequiredArgument,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
} from "graphql";
import { plainSchema } from "../inferred-schema.ts";
import type { ApiFacts, BodyFacts, OmittedOperation, OperationFacts, Remark } from "../api-facts.ts";
import type { LoadedDocument } from "../parse-document.ts";
import { readSchema, type ReadSchema } from "./graphql-schema.ts";
import { GraphqlSchemas, isFileType } from "./graphql-schemas.ts";
import { Selections } from "./selection.ts";

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
      format: this.#document.format as ApiFacts["format"],
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
