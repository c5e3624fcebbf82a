import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { ApiFacts, SecuritySchemeFacts } from "../api-facts.ts";
import type { LoadedDocument } from "../parse-document.ts";
import { ApiDocument, itemsOf, memberOf, textOf, membersOf, type ObjectPart } from "./api-document.ts";
import { readOperations } from "./read-operations.ts";
import { readSecurity } from "./read-security.ts";
import { readHost, readServers } from "./read-servers.ts";
import { ApiSchemas } from "./api-schemas.ts";
import { whyUnsendable } from "../unsendable-credentials.ts";

/**
 * What an OpenAPI description (2.0 to 3.2) says. Never throws: parts that cannot be read are omitted or remarked.
 * Schemas are read when they are asked for, and `remarks` grows with what is found in them.
 */
export function readOpenApi(loaded: LoadedDocument): ApiFacts {
  const document = new ApiDocument(loaded);
  const root = { value: document.root, pointer: "" };
  const info = isRecord(document.root["info"]) ? document.root["info"] : {};
  const security = readSecuritySchemes(document);
  const schemes = new Set(Object.keys(security));
  const context = { document, schemas: new ApiSchemas(document) };
  const defaults = { schemes, security: readSecurity(document, root, schemes) ?? [] };
  const { operations, omitted } = readOperations(context, defaults);
  return {
    format: loaded.format,
    title: textOf(info["title"])?.trim() ?? "",
    version: textOf(info["version"])?.trim() ?? "",
    ...present({ description: textOf(info["description"]) ?? textOf(info["summary"]) }),
    servers: loaded.format === "openapi-2.0" ? readHost(document) : (readServers(document, root) ?? []),
    security,
    tags: readTags(document),
    operations,
    omitted,
    remarks: document.remarks,
  };
}

function readTags(document: ApiDocument): ApiFacts["tags"] {
  return itemsOf(memberOf({ value: document.root, pointer: "" }, "tags")).flatMap(({ value }) => {
    const name = isRecord(value) ? textOf(value["name"]) : undefined;
    if (!isRecord(value) || name === undefined) return [];
    return [{ name, ...present({ description: textOf(value["description"]) ?? textOf(value["summary"]) }) }];
  });
}

/** The security schemes of the document by their names. */
function readSecuritySchemes(document: ApiDocument): Record<string, SecuritySchemeFacts> {
  const root = { value: document.root, pointer: "" };
  const components = memberOf(root, "components");
  const list =
    document.format === "openapi-2.0"
      ? memberOf(root, "securityDefinitions")
      : components && memberOf(components, "securitySchemes");
  const schemes: [string, SecuritySchemeFacts][] = [];
  for (const [name, part] of membersOf(list)) {
    const scheme = document.followObject(part);
    if (scheme) schemes.push([name, { ...common(document, scheme), ...kindOf(document, scheme) }]);
    else document.remark(part.pointer, `The security scheme "${name}" cannot be read; it is ignored`);
  }
  return Object.fromEntries(schemes);
}

function common(document: ApiDocument, { value, pointer }: ObjectPart): { description?: string; evidence: string } {
  return { ...present({ description: textOf(value["description"]) }), evidence: document.evidence(pointer) };
}

type Kind = SecuritySchemeFacts extends infer Facts
  ? Facts extends unknown
    ? Omit<Facts, "description" | "evidence">
    : never
  : never;

function kindOf(document: ApiDocument, scheme: ObjectPart): Kind {
  const { value, pointer } = scheme;
  const type = (textOf(value["type"]) ?? "").trim();
  switch (type.toLowerCase()) {
    case "basic":
      return { kind: "basic" };
    case "http":
      return httpKind(textOf(value["scheme"]) ?? "");
    case "apikey": {
      // Amazon API Gateway describes its signatures as a key in the header Authorization.
      if (/^aws\.?sigv4$/i.test(textOf(value["x-amazon-apigateway-authtype"]) ?? "")) {
        return { kind: "aws-sigv4", hasSession: false };
      }
      const { in: place } = value;
      const name = textOf(value["name"]) ?? "";
      if (name !== "" && (place === "query" || place === "header" || place === "cookie")) {
        return { kind: "apiKey", in: place, name };
      }
      document.remark(pointer, "This API key has no name or no place (query, header or cookie)");
      return { kind: "other", type };
    }
    case "oauth2":
      return document.format === "openapi-2.0" ? oldOAuth(document, scheme) : flows(document, scheme);
    case "openidconnect":
      return { kind: "oauth2", needsPerson: true };
    default:
      return other(type === "" ? "unknown" : type);
  }
}

function httpKind(scheme: string): Kind {
  switch (scheme.trim().toLowerCase()) {
    case "basic":
      return { kind: "basic" };
    case "bearer":
      return { kind: "bearer" };
    default:
      return other(scheme.trim(), `http ${scheme}`.trim());
  }
}

function other(name: string, type = name): Kind {
  return { kind: "other", type, ...present({ unsendable: whyUnsendable(name) }) };
}

function oldOAuth(document: ApiDocument, { value, pointer }: ObjectPart): Kind {
  const tokenUrl = address(document, value["tokenUrl"]);
  const scopes = membersOf(memberOf({ value, pointer }, "scopes")).map(([scope]) => scope);
  if (value["flow"] === "application" && tokenUrl !== undefined) {
    return { kind: "oauth2", needsPerson: false, clientCredentials: { tokenUrl, scopes }, tokenUrl };
  }
  return { kind: "oauth2", needsPerson: true, ...present({ tokenUrl }) };
}

function flows(document: ApiDocument, scheme: ObjectPart): Kind {
  let kind: Kind & { kind: "oauth2" } = { kind: "oauth2", needsPerson: true };
  for (const [name, flow] of membersOf(memberOf(scheme, "flows"))) {
    const tokenUrl = isRecord(flow.value) ? address(document, flow.value["tokenUrl"]) : undefined;
    if (tokenUrl === undefined) continue;
    kind = { tokenUrl, ...kind };
    if (name !== "clientCredentials") continue;
    const scopes = membersOf(memberOf(flow, "scopes")).map(([scope]) => scope);
    kind = { ...kind, needsPerson: false, clientCredentials: { tokenUrl, scopes } };
  }
  return kind;
}

function address(document: ApiDocument, value: unknown): string | undefined {
  const url = textOf(value)?.trim();
  if (url === undefined || url === "") return undefined;
  return URL.canParse(url, document.address) ? new URL(url, document.address).href : url;
}
