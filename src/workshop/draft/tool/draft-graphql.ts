import type { OperationFacts, SchemaFacts } from "../../documents/api-facts.ts";
import type { FieldSpec, Shape } from "../../file/model/tool-file.ts";
import { fieldNames } from "../names/field-names.ts";
import { pascalCase } from "../names/words.ts";
import { asTemplate } from "../texts.ts";
import { allFields, ANY_SHAPE, TEXT_SHAPE, type DraftType } from "../types/draft-type.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import type { DraftedInput } from "./draft-input.ts";
import type { ToolPlace } from "./draft-parameters.ts";
import type { DraftedResponse } from "./draft-response.ts";
import { effectOf } from "./effect-of.ts";

type Graphql = NonNullable<OperationFacts["graphql"]>;

/** The arguments of a tool are the variables of its document, which is the same in every request. */
export function draftGraphqlInput(
  operation: OperationFacts,
  { document, field }: Graphql,
  place: ToolPlace & { endpoint: string },
): DraftedInput {
  const { tool, types, endpoint } = place;
  const { evidence } = operation;
  const name = `${pascalCase(tool.split("_"))}Arguments`;
  const variables = operation.body?.contents[0]?.schema;
  const names = fieldNames(variables?.properties.keys() ?? []);
  // Names of arguments come first: callers use them.
  const free = (wanted: string) => ([...names.values()].includes(wanted) ? `${wanted}OfRequest` : wanted);
  const fields = new Map<string, FieldSpec>();
  fields.set(free("query"), fixed("query", document, evidence));
  fields.set(free("operationName"), fixed("operationName", field, evidence));
  for (const [member, read] of variables?.properties ?? []) {
    const about = `tools.${tool}.input`;
    const required = variables?.required.has(member) === true;
    const given = { owner: name, member, required, place: { form: "json" as const, name: "", about } };
    fields.set(names.get(member) ?? member, { ...types.fieldOf(read(), given), wire: `variables.${member}` });
  }
  const type = types.add(name, evidence, { evidence: [evidence], xml: {}, include: [], fields, hasPaths: true });
  const parameters = { fields: new Map(), sources: new Map(), query: {}, headers: {}, cookies: {}, credentials: [] };
  return { type, parameters: { ...parameters, path: endpoint }, request: { body: "json" } };
}

function fixed(wire: string, value: string, evidence: string): FieldSpec {
  return { wire, shape: TEXT_SHAPE, const: value, optional: false, hidden: false, evidence: [evidence] };
}

/**
 * The value of the field, and what failed. Without a value the call failed; with one, the parts that failed are missing
 * and `errors` says why.
 */
export function draftGraphqlAnswer(
  operation: OperationFacts,
  { field }: Graphql,
  { title, ...place }: ToolPlace & { title: string },
): DraftedResponse {
  const { tool, types } = place;
  const { evidence } = operation;
  const name = `${pascalCase(tool.split("_"))}Answer`;
  const schema = operation.responses[0]?.contents[0]?.schema;
  const own = TAKEN.has(field) ? "result" : ([...fieldNames([field]).values()][0] ?? "result");
  const about = `tools.${tool}.response`;
  const member = { owner: name, member: field, required: true, place: { form: "json" as const, name: "", about } };
  const value: FieldSpec = schema
    ? { ...types.fieldOf(schema, member), wire: `data.${field}` }
    : { wire: `data.${field}`, shape: ANY_SHAPE, optional: false, hidden: false, evidence: [evidence] };
  const type = types.add(name, `answer of ${evidence}`, {
    evidence: [evidence],
    xml: {},
    include: [failuresType(place, evidence)],
    fields: new Map([[own, value]]),
    hasPaths: true,
  });
  const list = listIn(own, value.shape, types.types);
  if (list?.cursor !== undefined && schema) askAboutPages(operation, list.path, list.cursor, place);
  const items = own.endsWith("s") ? asTemplate(own) : "items";
  const words = list ? `Found {count(${list.path})} ${items}.` : `${asTemplate(title)}: done.`;
  return {
    response: { as: "json", type: type.name, text: words },
    status: 200,
    type,
    errors: errorRules(own, effectOf(operation) === "read"),
  };
}

/** Names that the answer or expressions about it use otherwise. */
const TAKEN: ReadonlySet<string> = new Set(["failures", "errors", "deviations", "more", "input", "status"]);

/** What answers have in addition to the value. */
function failuresType({ types }: ToolPlace, evidence: string): DraftType {
  const known = types.types.get("GraphqlFailures");
  if (known?.fields.has("failures")) return known;
  const text = (wire: string): FieldSpec => {
    return { wire, shape: TEXT_SHAPE, nullable: true, optional: true, hidden: false, evidence: [evidence] };
  };
  const error = types.add("GraphqlFailure", "failure of GraphQL", {
    evidence: [evidence],
    xml: {},
    include: [],
    hasPaths: true,
    fields: new Map<string, FieldSpec>([
      ["message", { ...text("message"), optional: false }],
      ["path", { ...text("path"), shape: { kind: "list", of: ANY_SHAPE, keepEmpty: false } }],
      ["code", text("extensions.code")],
      ["kind", text("type")],
    ]),
  });
  const failures: Shape = { kind: "list", of: { kind: "object", type: error.name }, keepEmpty: false };
  const errors: FieldSpec = {
    description: "Why parts of the answer are missing.",
    wire: false,
    shape: TEXT_SHAPE,
    value: "if(count(failures) > 0, join(failures[].message, '; '))",
    optional: true,
    hidden: false,
    evidence: [evidence],
  };
  return types.add("GraphqlFailures", "failures of GraphQL", {
    evidence: [evidence],
    xml: {},
    include: [],
    hasPaths: true,
    fields: new Map([
      ["failures", { wire: "errors", shape: failures, optional: true, hidden: true, evidence: [evidence] }],
      ["errors", errors],
    ]),
  });
}

/** A request error has no path, and nothing was carried out. An error of a field that says no more may come late. */
function errorRules(field: string, isRead: boolean): YamlMap[] {
  const failed = `count(failures) > 0 and ${field} == null`;
  const say = "{join(failures[].message, '; ')}";
  if (isRead) return [{ that: failed, say }];
  const isLate =
    "item.path != null and (item.code == null and item.kind == null or item.code == 'INTERNAL_SERVER_ERROR')";
  return [
    { that: `${failed} and count(failures, ${isLate}) == 0`, say },
    { that: failed, say, outcome: "unknown" },
  ];
}

/** The only list of an answer: itself, or that of a connection with the cursor of its next page. */
function listIn(
  field: string,
  shape: Shape,
  types: ReadonlyMap<string, DraftType>,
): { path: string; cursor?: string } | undefined {
  if (shape.kind === "list") return { path: field };
  const type = shape.kind === "object" ? types.get(shape.type) : undefined;
  if (!type || type.union) return undefined;
  const fields = allFields(type);
  const items = ["nodes", "edges"].find((name) => fields.get(name)?.shape.kind === "list");
  const page = fields.get("pageInfo")?.shape;
  const info = page?.kind === "object" ? types.get(page.type) : undefined;
  if (items === undefined || !info) return undefined;
  const path = `${field}.${items}`;
  return allFields(info).has("endCursor") ? { path, cursor: `${field}.pageInfo` } : { path };
}

function askAboutPages(
  { body, evidence }: OperationFacts,
  items: string,
  page: string,
  { tool, questions }: ToolPlace,
): void {
  const variables: SchemaFacts | undefined = body?.contents[0]?.schema;
  if (!variables?.properties.has("after") || variables.required.has("after")) return;
  const line = `paging: { items: ${items}, cursor: { from: ${page}.endCursor, to: after }, last: ${page}.hasNextPage == false }`;
  const ask = `The answer seems to come in pages (by cursor). Should the tool gather them? Then add to it: ${line}`;
  questions.add(ask, `tools.${tool}`, evidence);
}
