import type { BodyFacts, ContentFacts, Evidence, SchemaFacts } from "../api-facts.ts";
import {
  hasPlaceholder,
  inferSchema,
  isPlaceholder,
  objectSchema,
  placeholderSchema,
  plainSchema,
} from "../inferred-schema.ts";
import { jsonSample } from "../text/json-sample.ts";
import { PostmanPart } from "./postman-part.ts";
import type { PostmanVariables } from "./postman-variables.ts";

const LANGUAGES: Readonly<Record<string, string>> = {
  json: "application/json",
  xml: "application/xml",
  html: "text/html",
  javascript: "application/javascript",
  text: "text/plain",
};

const FORM = "application/x-www-form-urlencoded";

/** The body of a request; undefined if it has none. `contentType`: of its header. */
export function readBody(
  body: PostmanPart,
  contentType: string | undefined,
  variables: PostmanVariables,
): BodyFacts | undefined {
  if (!body.isThere || body.isOff) return undefined;
  const mode = body.part("mode").text() ?? "";
  const content = contentOf(body, mode, contentType, variables);
  return content && { required: true, contents: [content], evidence: body.evidence };
}

function contentOf(
  body: PostmanPart,
  mode: string,
  contentType: string | undefined,
  variables: PostmanVariables,
): ContentFacts | undefined {
  switch (mode) {
    case "raw":
      return rawContent(body, contentType, variables);
    case "urlencoded":
      return formContent(body.part(mode), FORM, variables);
    case "formdata":
      return formContent(body.part(mode), "multipart/form-data", variables);
    case "file": {
      const { evidence } = body.part(mode);
      const schema = { ...plainSchema(evidence), format: "binary" };
      return content(contentType ?? "application/octet-stream", schema, evidence);
    }
    case "graphql":
      return graphqlContent(body.part(mode), variables);
    default:
      return undefined;
  }
}

function rawContent(
  body: PostmanPart,
  contentType: string | undefined,
  variables: PostmanVariables,
): ContentFacts | undefined {
  const raw = body.part("raw");
  const text = variables.resolve(raw.text() ?? "");
  if (text.trim() === "") return undefined;
  const language = body.part("options").part("raw").part("language").text() ?? "";
  const named = contentType ?? LANGUAGES[language];
  if (named !== undefined && /^application\/x-www-form-urlencoded$/i.test(named) && isForm(text)) {
    return formContent(formEntries(text, raw.evidence), FORM, variables);
  }
  const sample = named === undefined || /json/i.test(named) ? jsonSample(text) : undefined;
  const mediaType = named ?? (sample ? "application/json" : "text/plain");
  if (!sample) return content(mediaType, plainSchema(raw.evidence), raw.evidence);
  const { value } = sample;
  return {
    ...content(mediaType, inferSchema([{ value, evidence: raw.evidence }]), raw.evidence),
    examples: hasPlaceholder(value) || isBig(text) ? [] : [value],
  };
}

function isForm(text: string): boolean {
  return /^[^=&\s{}"]+=[^\n]*$/.test(text.trim());
}

/** The members of a form that was written as text, as those that were written one by one. */
function formEntries(text: string, evidence: Evidence): PostmanPart {
  const entries = [...new URLSearchParams(text.trim())].map(([key, value]) => ({ key, value }));
  return new PostmanPart(entries, evidence);
}

/** A long number is read as a bigint, which an example in JSON cannot have. */
function isBig(text: string): boolean {
  return /\d{16}/.test(text);
}

function formContent(list: PostmanPart, mediaType: string, variables: PostmanVariables): ContentFacts {
  const encoding: ContentFacts["encoding"] = {};
  const members = new Map<string, SchemaFacts>();
  for (const entry of list.items()) {
    const name = entry.part("key").text();
    if (name === undefined || name === "") continue;
    const type = entry.part("contentType").text();
    if (type !== undefined && type !== "") encoding[name] = { contentType: type };
    const schema = fieldSchema(entry, variables);
    const before = members.get(name);
    members.set(name, before ? repeated(schema) : schema);
  }
  return { ...content(mediaType, objectSchema(list.evidence, members), list.evidence), encoding };
}

function repeated(schema: SchemaFacts): SchemaFacts {
  return { ...plainSchema(`${schema.evidence}/value`, ["array"]), items: () => schema };
}

function fieldSchema(entry: PostmanPart, variables: PostmanVariables): SchemaFacts {
  const description = entry.description();
  const isFile = entry.part("type").text() === "file";
  const value = variables.resolve(entry.part("value").text() ?? "");
  const typed = isFile ? undefined : placeholderSchema(value, entry.evidence);
  return {
    ...(typed ?? plainSchema(entry.evidence)),
    ...(isFile && { format: "binary" }),
    ...(description !== undefined && { description }),
    examples: isFile || value === "" || isPlaceholder(value) || value.includes("{{") ? [] : [value],
  };
}

/** The query is a part of the request, like its path; only the variables differ between calls. */
function graphqlContent(graphql: PostmanPart, variables: PostmanVariables): ContentFacts {
  const { evidence } = graphql;
  const query = graphql.part("query");
  const given = graphql.part("variables");
  const text = given.text();
  const sample = text === undefined ? { value: given.value } : jsonSample(variables.resolve(text));
  const members: [string, SchemaFacts][] = [
    ["query", { ...plainSchema(query.evidence), const: variables.resolve(query.text() ?? "") }],
  ];
  const hasVariables = sample && typeof sample.value === "object" && sample.value !== null;
  if (hasVariables && Object.keys(sample.value as object).length > 0) {
    members.push(["variables", inferSchema([{ value: sample.value, evidence: given.evidence }])]);
  }
  return content("application/json", objectSchema(evidence, members, ["query"]), evidence);
}

function content(mediaType: string, schema: SchemaFacts, evidence: Evidence): ContentFacts {
  return { mediaType, schema, examples: [], encoding: {}, evidence };
}
