import { isRecord } from "../../json/is-record.ts";
import type { ApiFacts } from "./api-facts.ts";

export type DocumentFormat = Exclude<ApiFacts["format"], "curl">;

/** What a text looks like that is not an API description, and what to do. */
export interface Looks {
  like: string;
  fix: string;
}

const DESCRIPTIONS = "Import an OpenAPI description (2.0 to 3.2) or a Postman collection (2.x).";

/** The format of a parsed document, or what it looks like instead. */
export function formatOf(value: unknown): DocumentFormat | Looks {
  if (!isRecord(value)) return { like: Array.isArray(value) ? "a list" : "plain text", fix: DESCRIPTIONS };
  const version = versionOf(value["openapi"]) ?? versionOf(value["swagger"]);
  if (version !== undefined) return openApiFormat(version);
  const info = isRecord(value["info"]) ? value["info"] : {};
  const schema = typeof info["schema"] === "string" ? info["schema"] : "";
  if (/collection\/v2\./.test(schema)) return "postman-2";
  if (Array.isArray(value["item"]) && Object.hasOwn(value, "info")) return "postman-2";
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
  ["__schema", { like: "a GraphQL schema", fix: "GraphQL is not supported. Write the tools by hand: nexus api new" }],
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
  const { data, log } = value;
  if (isRecord(data) && Object.hasOwn(data, "__schema")) return looksOf(data);
  if (isRecord(log) && Array.isArray(log["entries"])) {
    return { like: "a HAR recording of a browser", fix: "Copy one of its requests as curl and use: nexus api new" };
  }
  for (const [member, looks] of BY_MEMBER) if (Object.hasOwn(value, member)) return looks;
  if (isRecord(value["properties"]) || isRecord(value["$defs"]) || isRecord(value["definitions"])) {
    return { like: "a JSON Schema", fix: `A schema has no operations. ${DESCRIPTIONS}` };
  }
  const names = Object.keys(value).slice(0, 5);
  const members = names.length === 0 ? "without members" : `with the members ${names.join(", ").slice(0, 100)}`;
  return { like: `an object ${members}`, fix: DESCRIPTIONS };
}

/** Formats of text that are recognised by how they begin. Checked on the first 4,000 characters. */
const BY_TEXT: readonly [RegExp, Looks][] = [
  [/^%PDF-/, { like: "a PDF", fix: `Look for an OpenAPI file on the pages of the API. ${DESCRIPTIONS}` }],
  [/^PK[^\w\s]{2}/, { like: "a ZIP archive", fix: "Unpack it and import the description inside." }],
  [/^#%RAML/, { like: "RAML", fix: "Convert it to OpenAPI first." }],
  [/^(?:\s*FORMAT:\s*1A)/i, { like: "API Blueprint", fix: "Convert it to OpenAPI first." }],
  [
    /^\s*<(?:!doctype html|html|head|body)\b/i,
    {
      like: "an HTML page",
      fix: "Look on the page for the link to the OpenAPI file (often openapi.json), and import that.",
    },
  ],
  [
    /^\s*<[^]*?<?(?:\w+:)?(?:definitions|description)\b[^>]*\bxmlns(?::\w+)?=["']http:\/\/(?:schemas\.xmlsoap\.org\/wsdl|www\.w3\.org\/ns\/wsdl)/,
    {
      like: "a WSDL description of a SOAP service",
      fix: "WSDL is not supported. Write the tools by hand: nexus api new",
    },
  ],
  [/^\s*</, { like: "XML", fix: DESCRIPTIONS }],
  [/^\s*(?:\$ )?curl\s/, { like: "a curl command", fix: "Start a tool file from it with: nexus api new" }],
  [
    /^\s*syntax\s*=\s*["']proto/,
    { like: "Protocol Buffers", fix: "gRPC is not supported. Export OpenAPI (gRPC gateway) instead." },
  ],
  [
    /^(?:\s|#[^\n]*\n|"""[^"]*""")*(?:schema|type|interface|enum|input|scalar|union|directive|extend)\s+[@\w]*\s*(?:\{|implements\b|=|on\b|\()/,
    { like: "a GraphQL schema", fix: "GraphQL is not supported. Write the tools by hand: nexus api new" },
  ],
];

/** What a text looks like that is not JSON or YAML; undefined if nothing is recognised. */
export function looksOfText(text: string): Looks | undefined {
  const start = text.slice(0, 4_000);
  return BY_TEXT.find(([pattern]) => pattern.test(start))?.[1];
}
