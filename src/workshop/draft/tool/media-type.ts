import type { ContentFacts } from "../../documents/api-facts.ts";
import type { RequestSpec } from "../../file/model/tool-file.ts";

export type BodyKind = NonNullable<RequestSpec["body"]>;

/** The kinds of bodies, those that are easiest to write first. */
const ORDER: readonly BodyKind[] = ["json", "form", "multipart", "xml", "text", "binary"];

/** The content types that are sent without being named in the file. */
const USUAL: Readonly<Record<BodyKind, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  xml: "application/xml",
  text: "text/plain",
  binary: "application/octet-stream",
};

/** How a body of a media type is written; a wildcard with a described value is JSON. */
export function kindOfMedia({ mediaType, schema }: ContentFacts): BodyKind {
  const type = essence(mediaType);
  if (type === "" || type === "*/*" || type === "application/*") {
    return schema === undefined || schema.format === "binary" ? "binary" : "json";
  }
  if (/[/+]json$|^application\/json|^text\/json$|[/+]json-seq$|ndjson|jsonl/.test(type)) return "json";
  if (type === "application/x-www-form-urlencoded") return "form";
  if (type.startsWith("multipart/")) return "multipart";
  if (/[/+]xml$/.test(type)) return "xml";
  if (type.startsWith("text/") || /[/+](?:yaml|x-yaml|csv|graphql|javascript)$/.test(type)) return "text";
  return "binary";
}

export interface MediaChoice {
  content: ContentFacts;
  kind: BodyKind;
  /** Undefined for the usual one of the kind. */
  contentType?: string;
  /** Others of the same kind, between which the document leaves the choice. */
  others: string[];
}

/** The content that a tool uses: JSON first, and of several the plainest. */
export function chooseMedia(contents: readonly ContentFacts[]): MediaChoice | undefined {
  const known = contents.map((content) => ({ content, kind: kindOfMedia(content) }));
  const kind = ORDER.find((each) => known.some((item) => item.kind === each));
  if (kind === undefined) return undefined;
  const same = known.filter((item) => item.kind === kind).map(({ content }) => content);
  const [content] = same.toSorted((a, b) => rank(a.mediaType) - rank(b.mediaType));
  if (!content) return undefined;
  const type = content.mediaType.trim();
  const isUsual = essence(type) === USUAL[kind] || type.includes("*") || type === "";
  return {
    content,
    kind,
    ...(isUsual ? {} : { contentType: type }),
    others: same.filter((each) => each !== content).map(({ mediaType }) => mediaType),
  };
}

function rank(mediaType: string): number {
  const type = essence(mediaType);
  if (Object.values(USUAL).includes(type)) return 0;
  if (type.includes("*")) return 1;
  if (type.endsWith("merge-patch+json") && !type.includes("strategic")) return 2;
  if (type.includes("json-patch") || type.includes("strategic") || type.includes("stream")) return 4;
  return 3;
}

function essence(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}
