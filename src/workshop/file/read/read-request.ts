import { type Part, present } from "../../../format/part.ts";
import { readParameters } from "./read-parameters.ts";
import { readAddress } from "./read-upstream.ts";
import { placesIn } from "../model/path-template.ts";
import { REQUEST_METHODS, type ParameterStyle, type RequestSpec, type ResponseSpec } from "../model/tool-file.ts";

const KEYS = ["method", "base", "path", "query", "headers", "cookies", "secrets", "body"];
const BODY_KEYS = ["contentType", "bodyOptional", "parts", "accept"];
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+*-]+(?:\s*;\s*[\w-]+=(?:[\w.+:/-]+|"[\x20-\x21\x23-\x7e]*"))*$/;
const ACCEPT = /^[\x20-\x7e]+$/;
const FILE_NAME = /^[^/\\\p{Cc}]{1,200}$/u;
const STYLES: readonly ParameterStyle[] = [
  "repeat",
  "comma",
  "space",
  "pipe",
  "tab",
  "members",
  "pairs",
  "deep",
  "json",
];

export function readRequest(part: Part): RequestSpec {
  part.members([...KEYS, ...BODY_KEYS], ["method", "path"]);
  const method = part.part("method").choice(REQUEST_METHODS) ?? "POST";
  const body = part.part("body").choice(["xml", "json", "form", "multipart", "binary", "text"]);
  if (body !== undefined && method === "HEAD")
    part.part("body").error("HEAD has no body", "Put the fields into query.");
  if (body === undefined) {
    for (const key of ["contentType", "bodyOptional", "parts"]) {
      if (part.has(key)) part.part(key).keyError("is for requests with a body", "Add body, or leave it out.");
    }
  }
  return present({
    method,
    base: readBase(part.part("base")),
    path: readPath(part.part("path")),
    query: readParameters(part.part("query"), "query"),
    headers: readParameters(part.part("headers"), "headers"),
    cookies: part.has("cookies") ? readParameters(part.part("cookies"), "cookies") : undefined,
    secrets: part.part("secrets").text(),
    body,
    contentType: readMatching(part.part("contentType"), MEDIA_TYPE, "is not a media type like application/json"),
    bodyOptional: part.part("bodyOptional").boolean() === true ? (true as const) : undefined,
    parts: part.has("parts") ? readParts(part.part("parts"), body) : undefined,
    accept: readMatching(part.part("accept"), ACCEPT, "is not a list of media types"),
  });
}

const RESPONSES = ["xml", "json", "text", "none", "binary", "auto"] as const;

export function readResponse(part: Part): ResponseSpec {
  part.members(["as", "type", "text", "sourcePayload", "unknown", "headers"], ["as", "text"]);
  const as = part.part("as").choice(RESPONSES) ?? "none";
  const type = part.part("type");
  const isBodyless = as === "text" || as === "none" || as === "binary";
  if (type.isThere && part.isMap && isBodyless && part.part("as").isText && !part.has("headers")) {
    type.keyError(`an answer that is read as ${as} has no type`, "Only fields from response headers need one.");
  }
  if (!type.isThere && (as === "xml" || as === "json"))
    part.error("type is missing", `An ${as} answer is read by a type.`);
  if (!type.isThere && part.has("headers")) part.error("type is missing", "The headers fill fields of a type.");
  return present({
    as,
    headers: part.has("headers") ? readResponseHeaders(part.part("headers")) : undefined,
    type: type.text(),
    text: part.part("text").text() ?? "",
    sourcePayload: part.part("sourcePayload").boolean() ?? false,
    unknown: readUnknown(part.part("unknown"), as),
  });
}

function readResponseHeaders(part: Part): Record<string, string> {
  return Object.fromEntries(part.entries().map(([header, field]) => [header, field.text() ?? ""]));
}

/** The default is the same, written or not. */
function readUnknown(part: Part, as: ResponseSpec["as"]): ResponseSpec["unknown"] {
  if (part.isThere && as !== "json" && as !== "auto") part.keyError("is for JSON answers", "Leave it out.");
  const unknown = part.choice(["keep", "ignore", "report"]);
  return unknown === "ignore" ? undefined : unknown;
}

/** The fields in a path. */
export function fieldsInPath(path: string): string[] {
  return placesIn(path).map(({ field }) => field);
}

function readBase(part: Part): string | undefined {
  const base = readAddress(part);
  if (base !== undefined && !base.endsWith("/")) {
    part.error("must end with a slash: the path is added to it", `Write ${base}/`);
  }
  return base;
}

function readPath(part: Part): string {
  // The base address itself is also a path.
  const path = part.isText && part.value() === "" ? "" : (part.text() ?? "");
  const plain = path.replaceAll(/\{[.;]?[A-Za-z][A-Za-z0-9_]*\*?\}/g, "x");
  if (plain.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(plain)) {
    part.error("begins at the base address, so not with a slash or a scheme", `Write ${path.replace(/^.*?\/+/, "")}`);
  } else if (/[?#]/.test(plain)) {
    part.error("must end before ? and #", "Put parameters into query.");
  } else if (/[{}]/.test(plain)) {
    part.error(
      "has braces that name no field",
      "Write {field}, {.field}, {;field}, or with * to explode it: {;field*}.",
    );
  } else if (/(^|\/)(\.|%2e){1,2}(\/|$)|\\|%2f|%5c|\s/i.test(plain)) {
    part.error("must not hold blanks, backslashes, encoded slashes, or dots as steps");
  }
  return path;
}

function readParts(part: Part, body: RequestSpec["body"]): NonNullable<RequestSpec["parts"]> {
  if (body !== "form" && body !== "multipart") part.keyError("is for the bodies form and multipart", "Leave it out.");
  return Object.fromEntries(
    part.entries().map(([field, each]) => {
      each.members(body === "form" ? ["style"] : ["style", "contentType", "fileName"]);
      const contentType = each.part("contentType");
      const fileName = each.part("fileName");
      return [
        field,
        present({
          style: each.part("style").choice(STYLES),
          contentType: readMatching(contentType, MEDIA_TYPE, "is not a media type like image/png"),
          fileName: readMatching(fileName, FILE_NAME, "is not a file name without folders"),
        }),
      ];
    }),
  );
}

function readMatching(part: Part, pattern: RegExp, problem: string): string | undefined {
  const text = part.text();
  if (text !== undefined && !pattern.test(text)) part.error(`"${text}" ${problem}`);
  return text;
}
