import type { OperationFacts } from "../../documents/api-facts.ts";
import type { Effect } from "../../file/model/tool-file.ts";
import { exampleAnswer, exampleArguments, expectedOf } from "../examples/draft-checks.ts";
import type { SecretsDrafter } from "../secrets/draft-secrets.ts";
import { asSentence, cleanText, toolText } from "../texts.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import { draftErrors } from "./draft-errors.ts";
import { draftGraphqlAnswer, draftGraphqlInput } from "./draft-graphql.ts";
import { draftInput } from "./draft-input.ts";
import type { ToolPlace } from "./draft-parameters.ts";
import { draftResponse } from "./draft-response.ts";
import { effectOf } from "./effect-of.ts";
import { askAboutPaging } from "./paging-question.ts";

/** One tool of the file, with the types at which its slice begins. */
export interface DraftedTool {
  name: string;
  /** `GET /pets/{id}` */
  operation: string;
  effect: Effect;
  evidence: string;
  tool: YamlMap;
  /** The types of its input and its answer. */
  types: string[];
  /** What the fake answers; undefined: answers are made up. */
  fake?: YamlMap;
}

export interface ToolContext extends ToolPlace {
  secrets: SecretsDrafter;
  /** The base address, if it is not that of the file. */
  base: string | undefined;
  /** A tool that reads what this one writes. */
  reader?: string | undefined;
  /** The path of all GraphQL requests. */
  endpoint: string;
}

export function draftTool(described: OperationFacts, context: ToolContext): DraftedTool {
  const { tool: name, types, secrets, base, reader } = context;
  const operation = secrets.withoutSchemeParameters(described, name);
  const effect = effectOf(operation);
  const title = titleOf(operation, name);
  const { graphql } = operation;
  const input = graphql ? draftGraphqlInput(operation, graphql, context) : draftInput(operation, context);
  const answer = graphql
    ? draftGraphqlAnswer(operation, graphql, { ...context, title })
    : draftResponse(operation, title, context);
  if (!graphql) askAboutPaging(input.parameters, answer, context, { effect, evidence: operation.evidence });
  const given = graphql ? undefined : exampleArguments(operation, input, types.types);
  const give = exampleAnswer(answer, types.types);
  const { parameters } = input;
  const tool: YamlMap = {
    ...aboutTool(operation, title, effect),
    input: input.type.name,
    request: {
      method: operation.method.toUpperCase(),
      base,
      path: parameters.path,
      ...filled({ query: parameters.query, headers: parameters.headers, cookies: parameters.cookies }),
      secrets: secrets.setFor(operation, parameters.credentials, name, input.secrets),
      ...input.request,
      accept: answer.accept ?? parameters.accept,
    },
    response: answer.response,
    ...lists({ errors: [...(answer.errors ?? []), ...draftErrors(operation)] }),
    ...limitsOf(operation),
    outcomeUnknown: effect === "read" ? undefined : outcomeText(reader),
    ...(given ? { checks: [checkOf(given, give, answer.response)] } : {}),
    evidence: operation.evidence,
  };
  const status = answer.status === 200 ? undefined : answer.status;
  const used = [input.type.name, ...(answer.type ? [answer.type.name] : [])];
  return {
    name,
    operation: operation.key,
    effect,
    evidence: operation.evidence,
    tool,
    types: used,
    ...(give ? { fake: { answers: [{ status, give }] } } : {}),
  };
}

function aboutTool(operation: OperationFacts, title: string, effect: Effect): YamlMap {
  return { title, description: descriptionOf(operation, title), effect, ...metaOf(operation) };
}

function titleOf({ summary, id, tags: _tags }: OperationFacts, name: string): string {
  const text = cleanText(summary ?? "", 100).replaceAll("\n", " ");
  if (text !== "") return text.replace(/\.$/, "");
  // An id in another script is still the best title.
  const words = id !== undefined && /[^\p{ASCII}]/u.test(id) ? cleanText(id, 100) : name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function descriptionOf(operation: OperationFacts, title: string): string {
  const { description, summary, deprecated, method, path, graphql, key } = operation;
  const request = graphql ? key : `${method.toUpperCase()} ${path}`;
  const text =
    toolText(description ?? "") || asSentence(cleanText(summary ?? "", 300)) || `${asSentence(title)} (${request})`;
  return deprecated && !/deprecated/i.test(text) ? `${text} (deprecated)` : text;
}

function metaOf({ tags: [tag] }: OperationFacts): YamlMap {
  const category = tag === undefined ? "" : cleanText(tag, 60);
  return category === "" ? {} : { meta: { category } };
}

/** A longer timeout than the usual one, where the document asks for it. */
function limitsOf({ timeoutMs }: OperationFacts): YamlMap {
  return timeoutMs === undefined ? {} : { limits: { timeout: `${Math.ceil(timeoutMs / 1_000)}s` } };
}

function outcomeText(reader: string | undefined): string {
  const how = reader === undefined ? "Look in the system itself" : `Look with ${reader}`;
  return `It is not known whether this was carried out. ${how} before calling it again.`;
}

function checkOf(call: YamlMap, give: YamlMap | undefined, { text }: YamlMap): YamlMap {
  const expected = give && expectedOf(give);
  const said = typeof text === "string" ? text.split("{", 1)[0]?.trim() : undefined;
  return {
    name: "the documented example",
    call,
    expect: expected ? { structuredContent: expected } : { text: said === undefined || said === "" ? "." : said },
  };
}

function filled(maps: Readonly<Record<string, YamlMap>>): YamlMap {
  return Object.fromEntries(Object.entries(maps).filter(([, map]) => Object.keys(map).length > 0));
}

function lists(named: Readonly<Record<string, readonly unknown[]>>): YamlMap {
  return Object.fromEntries(Object.entries(named).filter(([, list]) => list.length > 0));
}
