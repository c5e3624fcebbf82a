import { encodeQuery } from "../codec/form/address.ts";
import { codecFor } from "../codec/codec-for.ts";
import { requestPartsFor } from "../codec/form/request-parts.ts";
import type { ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";
import type { Credentials } from "./secrets/credentials.ts";
import type { OutgoingRequest } from "./upstream.ts";

/**
 * Writes one request with every value encoded for its place. Throws ARGUMENTS_INVALID for a value that is not possible
 * there.
 */
export type RequestWriter = (base: string, input: Record<string, unknown>, credentials: Credentials) => OutgoingRequest;

const CONTENT_TYPES = {
  xml: "application/xml; charset=utf-8",
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
  binary: "application/octet-stream",
  text: "text/plain",
} as const;
const ACCEPT = {
  xml: "application/xml, text/xml;q=0.9, */*;q=0.1",
  json: "application/json",
  text: "*/*",
  none: "*/*",
  binary: "*/*",
  auto: "*/*",
};

export function requestWriter(
  file: ToolFile,
  name: string,
  { input, request, response }: RequestToolSpec,
): RequestWriter {
  const { method, body } = request;
  const partsOf = requestPartsFor(file, name);
  const codec = body && codecFor(file, input, body, { side: "input" });
  const fixed = {
    accept: ACCEPT[response.as],
    ...(body === undefined ? {} : { "content-type": CONTENT_TYPES[body] }),
  };
  return (base, value, credentials) => {
    const { path, query, headers } = partsOf(value);
    const search = [query, encodeQuery(Object.entries(credentials.query))].filter((part) => part !== "").join("&");
    const url = `${base}${path}${search === "" ? "" : `?${search}`}`;
    const all = withCookies(withLowerCase(fixed, headers, credentials.headers), credentials.cookies);
    return codec ? { method, url, headers: all, body: codec.encode(value) } : { method, url, headers: all };
  };
}

/** Cookies of secrets follow those of the request. */
function withCookies(headers: Record<string, string>, cookies: Record<string, string>): Record<string, string> {
  const written = Object.entries(cookies).map(([name, value]) => `${name}=${value}`);
  if (written.length === 0) return headers;
  const { cookie } = headers;
  return { ...headers, cookie: [...(cookie === undefined ? [] : [cookie]), ...written].join("; ") };
}

/** Lower-case names, so that a credential and a value cannot have the same name. */
function withLowerCase(...each: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const headers of each) for (const name of Object.keys(headers)) all[name.toLowerCase()] = headers[name] ?? "";
  return all;
}
