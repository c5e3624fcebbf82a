import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { ContentFacts, ParameterFacts } from "../api-facts.ts";
import { memberOf, membersOf, textOf, type ApiDocument, type ObjectPart, type DocumentPart } from "./api-document.ts";
import type { ApiSchemas } from "./api-schemas.ts";

/** What all readers of parts need. */
export interface ReadContext {
  document: ApiDocument;
  schemas: ApiSchemas;
}

/** The media types in `content`, in their order. */
export function readContents(context: ReadContext, owner: ObjectPart): ContentFacts[] {
  const { document } = context;
  const list = memberOf(owner, "content");
  if (list && !isRecord(list.value)) document.remark(list.pointer, "The content is not an object; it is ignored");
  return membersOf(list).flatMap(([mediaType, part]) => {
    const content = document.followObject(part);
    if (content && mediaType.trim() !== "") return [readContent(context, mediaType.trim(), content)];
    document.remark(part.pointer, `The media type "${mediaType}" cannot be read; it is ignored`);
    return [];
  });
}

function readContent({ document, schemas }: ReadContext, mediaType: string, content: ObjectPart): ContentFacts {
  const schema = memberOf(content, "schema");
  if (!schema && memberOf(content, "itemSchema")) {
    document.remark(content.pointer, "A stream of items is described; its items are not checked");
  }
  return {
    mediaType,
    ...(schema && schema.value !== null ? { schema: schemas.schema(schema) } : {}),
    examples: readExamples(document, content),
    encoding: readEncoding(content),
    evidence: document.evidence(content.pointer),
  };
}

/** The values of `example` and `examples` beside a schema. */
export function readExamples(document: ApiDocument, owner: ObjectPart): unknown[] {
  const { example, examples } = owner.value;
  const all: unknown[] = example === undefined ? [] : [example];
  if (Array.isArray(examples)) return [...all, ...(examples as unknown[])];
  for (const [, part] of membersOf(memberOf(owner, "examples"))) {
    const found = document.followObject(part);
    if (!found) continue;
    const value = found.value["dataValue"] ?? found.value["value"];
    if (value !== undefined) all.push(value);
  }
  return all;
}

function readEncoding(content: ObjectPart): ContentFacts["encoding"] {
  const entries = membersOf(memberOf(content, "encoding")).flatMap(([name, { value }]) => {
    if (!isRecord(value)) return [];
    const { contentType, style, explode } = value;
    const facts = present({
      contentType: textOf(contentType),
      style: styleOf(style),
      explode: typeof explode === "boolean" ? explode : undefined,
    });
    return [[name, facts] as const];
  });
  return Object.fromEntries(entries);
}

const STYLES = ["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"] as const;

export function styleOf(value: unknown): ParameterFacts["style"] | undefined {
  return STYLES.find((style) => style === value);
}

/** How Swagger 2.0 writes a list: `multi` repeats the name. */
export function oldStyle(
  format: unknown,
  place: "path" | "query" | "header" | "formData",
): Pick<ParameterFacts, "style" | "explode"> {
  const isForm = place === "query" || place === "formData";
  switch (format) {
    case "multi":
      return { style: isForm ? "form" : "simple", explode: isForm };
    case "ssv":
      return { style: "spaceDelimited", explode: false };
    case "tsv":
      return { style: "tabs", explode: false };
    case "pipes":
      return { style: "pipeDelimited", explode: false };
    default:
      return { style: isForm ? "form" : "simple", explode: false };
  }
}

/** The media types in `consumes` or `produces` of the operation, else of the document. */
export function mediaTypes(document: ApiDocument, operation: DocumentPart, member: "consumes" | "produces"): string[] {
  const own = memberOf(operation, member)?.value;
  const list = Array.isArray(own) ? (own as unknown[]) : document.root[member];
  return Array.isArray(list)
    ? ([...new Set(list.filter((type) => typeof type === "string" && type.trim() !== ""))] as string[])
    : [];
}
