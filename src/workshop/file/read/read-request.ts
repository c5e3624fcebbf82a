import { type Part, present } from "./part.ts";
import { checkHeader } from "./secret-name.ts";
import type { RequestSpec, ResponseSpec } from "../model/tool-file.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export function readRequest(part: Part): RequestSpec {
  part.members(["method", "path", "query", "headers", "secrets", "body"], ["method", "path"]);
  const method = part.part("method").choice(METHODS) ?? "POST";
  const body = part.part("body").choice(["xml", "json", "form"]);
  if (body !== undefined && method === "GET") part.part("body").error("GET has no body", "Put the fields into query.");
  return present({
    method,
    path: readPath(part.part("path")),
    query: Object.fromEntries(
      part
        .part("query")
        .entries()
        .map(([name, item]) => [name, readParameter(item)]),
    ),
    headers: readHeaders(part.part("headers")),
    secrets: part.part("secrets").text(),
    body,
  });
}

export function readResponse(part: Part): ResponseSpec {
  part.members(["as", "type", "text", "sourcePayload", "unknown"], ["as", "text"]);
  const as = part.part("as").choice(["xml", "json", "text", "none"]) ?? "none";
  const type = part.part("type");
  if (type.isThere && part.isMap && (as === "text" || as === "none") && part.part("as").isText) {
    type.keyError(`an answer that is read as ${as} has no type`);
  }
  if (!type.isThere && (as === "xml" || as === "json"))
    part.error("type is missing", `An ${as} answer is read by a type.`);
  return present({
    as,
    type: type.text(),
    text: part.part("text").text() ?? "",
    sourcePayload: part.part("sourcePayload").boolean() ?? false,
    unknown: readUnknown(part.part("unknown"), as),
  });
}

/** The default is the same, written or not. */
function readUnknown(part: Part, as: ResponseSpec["as"]): ResponseSpec["unknown"] {
  if (part.isThere && as !== "json") part.keyError("is for JSON answers", "Leave it out.");
  const unknown = part.choice(["keep", "ignore", "report"]);
  return unknown === "ignore" ? undefined : unknown;
}

/** The fields in a path. */
export function fieldsInPath(path: string): string[] {
  return [...path.matchAll(/\{([^{}]*)\}/g)].map(([, field = ""]) => field);
}

function readPath(part: Part): string {
  // The base address itself is also a path.
  const path = part.isText && part.value() === "" ? "" : (part.text() ?? "");
  const plain = path.replaceAll(/\{[A-Za-z][A-Za-z0-9_]*\}/g, "x");
  if (plain.startsWith("/") || /^[a-z][a-z0-9+.-]*:/i.test(plain)) {
    part.error("begins at the base address, so not with a slash or a scheme", `Write ${path.replace(/^.*?\/+/, "")}`);
  } else if (/[?#]/.test(plain)) {
    part.error("must end before ? and #", "Put parameters into query.");
  } else if (/[{}]/.test(plain)) {
    part.error("has braces that name no field", "Write {field}.");
  } else if (/(^|\/)\.{1,2}(\/|$)|\\|%2f|%5c|\s/i.test(plain)) {
    part.error("must not hold blanks, backslashes, encoded slashes, or dots as steps");
  }
  return path;
}

function readParameter(part: Part): { field: string; style: "repeat" | "comma" } {
  if (!part.isMap) return { field: part.text() ?? "", style: "repeat" };
  part.members(["field", "style"], ["field"]);
  return { field: part.part("field").text() ?? "", style: part.part("style").choice(["repeat", "comma"]) ?? "repeat" };
}

function readHeaders(part: Part): Record<string, string> {
  return Object.fromEntries(
    part.entries().map(([header, field]) => {
      checkHeader(field, header, "Name it in secrets, as bearer, basic or headers.");
      return [header, field.text() ?? ""];
    }),
  );
}
