import type { OperationFacts } from "../../documents/api-facts.ts";
import type { Effect, FieldSpec } from "../../file/model/tool-file.ts";
import { exampleAnswer, exampleArguments, expectedOf } from "../examples/draft-checks.ts";
import type { SecretsDrafter } from "../secrets/draft-secrets.ts";
import { cleanText, asTemplate } from "../texts.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";
import { draftGraphqlAnswer, draftGraphqlInput } from "./draft-graphql.ts";
import { draftInput } from "./draft-input.ts";
import type { ToolPlace, DraftedParameters } from "./draft-parameters.ts";
import { draftResponse, type DraftedResponse } from "./draft-response.ts";
import { effectOf } from "./effect-of.ts";
import { allFields } from "../types/draft-type.ts";

const TOOL_LENGTH = 1_000;

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

interface ToolContext extends ToolPlace {
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

const PAGES = [
  {
    kind: "cursor",
    is: /^(?:cursor|next_?cursor|start_?cursor|page_?token|next_?token|continue|after|starting_?after)$/i,
  },
  { kind: "page", is: /^(?:page|page_?number|page_?index|p)$/i },
  { kind: "offset", is: /^(?:offset|skip|start|start_?at|start_?index)$/i },
] as const;

/** Members of answers that name the next page. */
const NEXT = /^(?:next|next_?page|next_?(?:page_?)?(?:cursor|token)|cursor|end_?cursor)$/i;

/** Parameters with the number of items of a page. */
const SIZE = /^(?:limit|size|count|top|per_?page|page_?size|max_?results)$/i;

/** Proposes to gather pages, where parameters and the answer of a read look like a list in pages. */
function askAboutPaging(
  { query, fields }: DraftedParameters,
  { type }: DraftedResponse,
  { tool, questions }: ToolPlace,
  { effect, evidence }: { effect: Effect; evidence: string },
): void {
  const members = type ? allFields(type) : new Map<string, FieldSpec>();
  const [list, ...more] = [...members].flatMap(([name, { shape }]) => (shape.kind === "list" ? [name] : []));
  if (effect !== "read" || list === undefined || more.length > 0 || members.has("more")) return;
  const fieldOf = (name: string | undefined) => {
    const field = name === undefined ? undefined : query[name];
    return typeof field === "string" ? field : undefined;
  };
  for (const { kind: usual, is } of PAGES) {
    const names = Object.keys(query).filter((name) => is.test(name));
    if (names.length !== 1 || fields.size === 0) continue;
    const to = fieldOf(names[0]);
    const spec = fields.get(to ?? "");
    const next = [...members.keys()].find((name) => NEXT.test(name));
    // A page that has a text as its name is one that the answer before names.
    const kind = usual === "page" && spec && !isNumber(spec) && next !== undefined ? "cursor" : usual;
    const isCursor = kind === "cursor";
    const sized = isCursor ? undefined : fieldOf(Object.keys(query).find((name) => SIZE.test(name)));
    const size = isNumber(fields.get(sized ?? "")) ? sized : undefined;
    const from = isCursor ? `from: ${next ?? "…"}, ` : "";
    const rest = size === undefined ? "" : `, size: ${size}`;
    const line = `paging: { items: ${list}, ${kind}: { ${from}to: ${to ?? "…"}${rest} } }`;
    const first = [
      ...(spec && !isCursor && !isNumber(spec) ? [`make ${to} an integer`] : []),
      ...(spec && !spec.optional && spec.default === undefined ? [`make ${to} optional`] : []),
    ];
    const ask = `The answer seems to come in pages (by ${kind}). Should the tool gather them? Then ${[...first, "add to it"].join(", ")}: ${line}`;
    const isWhole = to !== undefined && first.length === 0 && (!isCursor || next !== undefined);
    const pages = { ...(isCursor ? { from: next } : {}), to, ...(size === undefined ? {} : { size }) };
    const choices = [
      { answer: "no", set: {} },
      { answer: "yes", set: { paging: { items: list, [kind]: pages } } },
    ];
    questions.add(ask, `tools.${tool}`, evidence, isWhole ? choices : []);
    return;
  }
}

function isNumber(field: FieldSpec | undefined): boolean {
  return field?.shape.kind === "scalar" && (field.shape.type === "integer" || field.shape.type === "number");
}

const MOST = 12;

/** What a caller can do about a status, in plain words. */
const TRY: Readonly<Record<number, string>> = {
  400: "Correct the arguments that the message names.",
  401: "The operator of this server has to store valid credentials.",
  402: "The account has to be paid or extended first.",
  403: "Use an account that is allowed to do this.",
  404: "Check the ids in the arguments.",
  405: "Use another tool: this resource does not allow it.",
  406: "The operator of this server has to change the content type.",
  408: "Call it again.",
  409: "Read the current state first, then call it again.",
  410: "It no longer exists; look for another one.",
  412: "Read the current state first, then call it again.",
  413: "Send less.",
  415: "The operator of this server has to change the content type.",
  422: "Correct the arguments that the message names.",
  423: "Wait until it is unlocked, then call it again.",
  429: "Wait a little, then call it again.",
  500: "Call it again later; if it stays, tell the operator of the API.",
  502: "Call it again later.",
  503: "Call it again later.",
  504: "Call it again later.",
};

/** The usual words for a status, where the document only repeats the number. */
const SAY: Readonly<Record<number, string>> = {
  400: "The request is not valid.",
  401: "The credentials are missing or wrong.",
  403: "The credentials do not allow this.",
  404: "It does not exist.",
  409: "It conflicts with the current state.",
  422: "The arguments are not accepted.",
  429: "There were too many requests.",
  500: "The API failed.",
  503: "The API is not available.",
};

/** The documented failures: those of certain answers first. The same description for several statuses is one entry. */
function draftErrors({ responses, errors = [] }: OperationFacts): YamlMap[] {
  const certain = errors
    .filter(({ that }) => that !== undefined)
    .slice(0, MOST)
    .map(({ status = [], that, say, try: advice }) => ({
      ...(status.length === 0 ? {} : { status: status.length === 1 ? status[0] : status }),
      ...(that === undefined ? {} : { that }),
      say,
      ...(advice === undefined ? {} : { try: advice }),
    }));
  const entries = new Map<string, { statuses: number[]; say: string; try?: string }>();
  const stated = errors.flatMap(({ status = [], that, say }) =>
    (that === undefined ? status : []).map((each) => ({ status: `${each}`, description: say })),
  );
  for (const { status, description } of [...stated, ...responses]) {
    const code = /^[45]\d\d$/.test(status) ? Number(status) : undefined;
    if (code === undefined) continue;
    const text = cleanText(description ?? "", 200).replaceAll("\n", " ");
    const say = asTemplate(asSentence(isEmpty(text) ? (SAY[code] ?? `The API answered with status ${code}.`) : text));
    const advice = TRY[code];
    const key = JSON.stringify([say, advice]);
    const known = entries.get(key);
    if (known) known.statuses.push(code);
    else entries.set(key, { statuses: [code], say, ...(advice === undefined ? {} : { try: advice }) });
  }
  const byStatus = [...entries.values()].slice(0, MOST).map(({ statuses, ...entry }) => ({
    status: statuses.length === 1 ? statuses[0] : [...new Set(statuses)],
    ...entry,
  }));
  return [...certain, ...byStatus];
}

/** Whether a description says no more than its status. */
function isEmpty(text: string): boolean {
  return (
    text.length < 4 ||
    /^(?:error|bad request|unauthori[sz]ed|forbidden|not found|conflict|internal server error|too many requests|\d{3})\.?$/i.test(
      text,
    )
  );
}

function toolText(text: string): string {
  return cleanText(text, TOOL_LENGTH);
}

/** With a full stop, if it has no other end. */
function asSentence(text: string): string {
  return /[.!?…:]$/.test(text) || text === "" ? text : `${text}.`;
}
