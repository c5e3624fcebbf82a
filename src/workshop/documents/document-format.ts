import { isRecord } from "../../json/is-record.ts";
import type { DocumentFormat, ManualFormat } from "./api-facts.ts";

/** What a text looks like that is not an API description, and what to do. */
export interface Looks {
  like: string;
  fix: string;
}

const DESCRIPTIONS =
  "Import an OpenAPI description (2.0 to 3.2), a Postman collection (2.x), a WSDL file, a GraphQL schema, or a manual.";

/** The format of a parsed document, or what it looks like instead. */
export function formatOf(value: unknown): DocumentFormat | Looks {
  if (!isRecord(value)) return { like: Array.isArray(value) ? "a list" : "plain text", fix: DESCRIPTIONS };
  const version = versionOf(value["openapi"]) ?? versionOf(value["swagger"]);
  if (version !== undefined) return openApiFormat(version);
  const info = isRecord(value["info"]) ? value["info"] : {};
  const schema = typeof info["schema"] === "string" ? info["schema"] : "";
  if (/collection\/v2\./.test(schema)) return "postman-2";
  if (Array.isArray(value["item"]) && Object.hasOwn(value, "info")) return "postman-2";
  const { data, log } = value;
  if (isRecord(value["__schema"]) || (isRecord(data) && isRecord(data["__schema"]))) return "graphql-introspection";
  if (isRecord(log) && Array.isArray(log["entries"])) return "har";
  return looksOf(value);
}

function versionOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : undefined;
}

function openApiFormat(version: string): DocumentFormat | Looks {
  if (/^2(?:\.0)*$/.test(version)) return "openapi-2.0";
  if (/^3(?:\.0(?:\.|-|$)|$)/.test(version)) return "openapi-3.0";
  if (/^3\.1(?:\.|-|$)/.test(version)) return "openapi-3.1";
  if (/^3\.2(?:\.|-|$)/.test(version)) return "openapi-3.2";
  const fix = "Export it as OpenAPI 3.0, 3.1 or 3.2; the documentation of the program that made it says how.";
  return { like: `OpenAPI ${version.slice(0, 20)}, a version that is not supported`, fix };
}

/** Formats by a member that only they have, the more certain ones first. */
const BY_MEMBER: readonly [string, Looks][] = [
  ["nexus", { like: "a tool file of Nexus", fix: "It needs no import. Check it with: nexus api check <file>" }],
  ["asyncapi", { like: "an AsyncAPI description of messages", fix: DESCRIPTIONS }],
  ["openrpc", { like: "an OpenRPC description", fix: DESCRIPTIONS }],
  ["arazzo", { like: "an Arazzo description of workflows", fix: "Import the OpenAPI descriptions that it names." }],
  ["overlay", { like: "an OpenAPI overlay", fix: "Apply it to its description, then import the result." }],
  [
    "swaggerVersion",
    { like: "Swagger 1.x", fix: "Convert it to OpenAPI 3 first, for example with api-spec-converter." },
  ],
  ["mcpServers", { like: "a list of MCP servers", fix: "Servers are added with: nexus mcp add" }],
  ["discoveryVersion", { like: "a Google discovery document", fix: "Convert it to OpenAPI first." }],
  [
    "_type",
    { like: "an Insomnia export", fix: "Export its OpenAPI design document, or a Postman collection, instead." },
  ],
  ["requests", { like: "a Postman collection 1.x", fix: "Open it in Postman and export it as Collection v2.1." }],
  [
    "collection",
    {
      like: "an answer of the Postman API",
      fix: `Save the value of its member "collection" to a file and import that.`,
    },
  ],
  ["$schema", { like: "a JSON Schema", fix: `A schema has no operations. ${DESCRIPTIONS}` }],
  ["paths", { like: "an OpenAPI description without its version", fix: `Add "openapi: 3.0.3" (or "swagger: '2.0'").` }],
];

function looksOf(value: Record<string, unknown>): Looks {
  for (const [member, looks] of BY_MEMBER) if (Object.hasOwn(value, member)) return looks;
  if (isRecord(value["properties"]) || isRecord(value["$defs"]) || isRecord(value["definitions"])) {
    return { like: "a JSON Schema", fix: `A schema has no operations. ${DESCRIPTIONS}` };
  }
  const names = Object.keys(value).slice(0, 5);
  const members = names.length === 0 ? "without members" : `with the members ${names.join(", ").slice(0, 100)}`;
  return { like: `an object ${members}`, fix: DESCRIPTIONS };
}

/** Formats of text that are recognised by how they begin. Checked on the first 4,000 characters. */
const BY_TEXT: readonly [RegExp, DocumentFormat | Looks][] = [
  [/^%PDF-/, { like: "the text of a PDF file", fix: "Import the PDF file itself." }],
  [/^PK[^\w\s]{2}/, { like: "a ZIP archive", fix: "Unpack it and import the documents inside." }],
  [/^#%RAML/, { like: "RAML", fix: "Convert it to OpenAPI first." }],
  [/^(?:\s*FORMAT:\s*1A)/i, { like: "API Blueprint", fix: "Convert it to OpenAPI first." }],
  [/^\s*(?:<!--[^]*?-->\s*)*<(?:!doctype html|html|head|body)\b/i, "html"],
  [
    /^\s*<[^]*?(?:[\w.-]+:)?definitions\b[^>]*\bxmlns(?::[\w.-]+)?\s*=\s*["']http:\/\/schemas\.xmlsoap\.org\/wsdl\/?["']/,
    "wsdl-1.1",
  ],
  [
    /^\s*<[^]*?(?:[\w.-]+:)?description\b[^>]*\bxmlns(?::[\w.-]+)?\s*=\s*["']http:\/\/www\.w3\.org\/ns\/wsdl/,
    { like: "WSDL 2.0", fix: "Services that have it also offer WSDL 1.1: look for an address that ends with ?wsdl." },
  ],
  [/^\s*(?:(?:#[^\n]*|(?:export[ \t]+)?[A-Za-z_]\w*=[^\n]*|set [-+][^\n]*)\n\s*)*(?:\$ )?curl\s/, "curl"],
  [
    /^\s*syntax\s*=\s*["']proto/,
    { like: "Protocol Buffers", fix: "gRPC is not supported. Export OpenAPI (gRPC gateway) instead." },
  ],
  [
    /^\s*<(?:[\w.-]+:)?schema\b[^>]*\/XMLSchema["']/,
    { like: "an XML Schema", fix: "Import the WSDL file that uses it: the schemas beside that are read with it." },
  ],
  [/^\s*</, { like: "XML", fix: DESCRIPTIONS }],
];

/** The format of a text that is not JSON or YAML, or what it looks like instead; undefined if nothing is recognised. */
export function textFormatOf(text: string): DocumentFormat | Looks | undefined {
  const start = text.slice(prologueLength(text)).slice(0, 4_000);
  return BY_TEXT.find(([pattern]) => pattern.test(start))?.[1] ?? (isGraphql(text) ? "graphql" : undefined);
}

function afterBlanks(text: string, from: number): number {
  const blanks = /[\s,\uFEFF]*/y;
  blanks.lastIndex = from;
  blanks.test(text);
  return blanks.lastIndex;
}

const GRAPHQL =
  /^(?:(?:schema|type|interface|enum|input|scalar|union|directive|extend)\s+[@\w]+[^\n:]*(?:\{|implements\b|=|on\b|\(|\n|$)|schema\s*(?:@[^{]*)?\{)/;

/** Whether the first thing after comments and descriptions is a definition of a schema. */
function isGraphql(text: string): boolean {
  let at = 0;
  for (;;) {
    at = afterBlanks(text, at);
    const isBlock = text.startsWith('"""', at);
    const end = isBlock ? blockEnd(text, at + 3) : text.charAt(at) === "#" ? lineEnd(text, at) : textEnd(text, at);
    if (end === undefined) return GRAPHQL.test(text.slice(at, at + 4_000));
    at = end;
  }
}

/** After the closing `"""`; `\"""` is a part of the description. */
function blockEnd(text: string, from: number): number | undefined {
  let found = text.indexOf('"""', from);
  while (found !== -1 && text.charAt(found - 1) === "\\") found = text.indexOf('"""', found + 3);
  return found === -1 ? undefined : found + 3;
}

function lineEnd(text: string, from: number): number | undefined {
  const found = text.indexOf("\n", from);
  return found === -1 ? undefined : found + 1;
}

/** After a description in one line. */
function textEnd(text: string, at: number): number | undefined {
  const line = text.slice(at, at + 4_000);
  const found = /^"(?:[^"\\\n]|\\[^\n])*"(?=[ \t]*\n)/.exec(line);
  return found ? at + found[0].length : undefined;
}

/** The length of what is before the first element of XML: a declaration, style sheets and comments, such as a licence. */
function prologueLength(text: string): number {
  let at = 0;
  for (;;) {
    at = afterBlanks(text, at);
    const end = text.startsWith("<?", at)
      ? "?>"
      : text.startsWith("<!--", at)
        ? "-->"
        : isBundleTag(text, at)
          ? ">"
          : undefined;
    const found = end === undefined ? -1 : text.indexOf(end, at);
    if (end === undefined || found === -1) return at;
    at = found + end.length;
  }
}

/** The elements around the files of a description that were put together. */
function isBundleTag(text: string, at: number): boolean {
  return text.startsWith("<n:bundle ", at) || text.startsWith("<n:file ", at);
}

const MANUALS: readonly [RegExp, ManualFormat][] = [
  [/\.(?:md|markdown|mdx)$/i, "markdown"],
  [/\.x?html?$/i, "html"],
  [/\.pdf(?:\.txt)?$/i, "pdf"],
  [/\.(?:txt|text|rst|adoc|asciidoc)$/i, "text"],
];

/** The format of a document for people, by the name of its file. */
export function manualByName(file: string): ManualFormat | undefined {
  return MANUALS.find(([pattern]) => pattern.test(file))?.[1];
}

/** The format of a text for people, by what is in it. */
export function manualByText(text: string): ManualFormat {
  if (text.includes("\f")) return "pdf";
  // Bars alone also draw tables of plain texts; only the line below the head is Markdown's own.
  return /^(?:#{1,6} +\S|```|~~~|\|(?: *:?-+:? *\|)+ *$)/m.test(text) ? "markdown" : "text";
}

/** Whether a text that is not valid YAML was written for people. */
export function isForPeople(text: string): boolean {
  if (/^["']?(?:openapi|swagger|asyncapi|info|paths|components|definitions)["']?\s*:/m.test(text)) return false;
  return /^#{1,6} +\S/m.test(text) || /^(?![ \t]*#).*?\b\w+(?: +\w+){5}/m.test(text);
}
