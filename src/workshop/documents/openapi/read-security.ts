import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { OperationFacts, SecuritySchemeFacts } from "../api-facts.ts";
import { whyUnsendable } from "../unsendable-credentials.ts";
import {
  itemsOf,
  memberOf,
  membersOf,
  textOf,
  type ApiDocument,
  type ObjectPart,
  type DocumentPart,
} from "./api-document.ts";

/** The security schemes of the document by their names. */
export function readSecuritySchemes(document: ApiDocument): Record<string, SecuritySchemeFacts> {
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

/** The alternatives in `security` of the document or an operation; undefined if there is no such member. */
export function readSecurity(
  document: ApiDocument,
  owner: DocumentPart,
  known: ReadonlySet<string>,
): OperationFacts["security"] | undefined {
  const list = memberOf(owner, "security");
  if (!list) return undefined;
  if (!Array.isArray(list.value)) {
    document.remark(list.pointer, "The security requirements are not a list; they are ignored");
    return undefined;
  }
  return itemsOf(list).flatMap((part) => {
    if (!isRecord(part.value)) {
      document.remark(part.pointer, "This security requirement cannot be read; it is ignored");
      return [];
    }
    const missing = Object.keys(part.value).filter((scheme) => !known.has(scheme) && !scheme.startsWith("x-"));
    for (const scheme of missing) document.remark(part.pointer, `The security scheme "${scheme}" is not declared`);
    if (missing.length > 0) return [];
    return [
      membersOf(part).map(([scheme, { value: scopes }]) => ({
        scheme,
        scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [],
      })),
    ];
  });
}
