import { isRecord } from "../../../json/is-record.ts";
import { present } from "../../../format/part.ts";
import type { ApiFacts } from "../api-facts.ts";
import type { LoadedDocument } from "../parse-document.ts";
import { ApiDocument, itemsOf, memberOf, textOf } from "./api-document.ts";
import { readOperations } from "./read-operations.ts";
import { readSecurity, readSecuritySchemes } from "./read-security.ts";
import { readHost, readServers } from "./read-servers.ts";
import { ApiSchemas } from "./api-schemas.ts";

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
