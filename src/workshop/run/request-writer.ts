import { encodeQuery } from "../codec/parameter/address.ts";
import { requestBodyFor } from "../codec/body/request-body.ts";
import type { Scope } from "../expression/expression.ts";
import { requestPartsFor } from "../codec/parameter/request-parts.ts";
import { DEFAULT_DOWNLOAD_BYTES, type ToolFile, type RequestToolSpec } from "../file/model/tool-file.ts";
import type { Credentials } from "./secrets/credentials.ts";
import type { OutgoingRequest } from "./upstream.ts";

/**
 * Writes one request with every value encoded for its place. Throws ARGUMENTS_INVALID for a value that is not possible
 * there.
 */
export type RequestWriter = (input: Record<string, unknown>, around: RequestSurroundings) => OutgoingRequest;

interface RequestSurroundings {
  /** The base address; ends with a slash. */
  base: string;
  credentials: Credentials;
  /** For computed parameters. */
  scope: Scope;
}

const ACCEPT = {
  xml: "application/xml, text/xml;q=0.9, */*;q=0.1",
  json: "application/json",
  text: "*/*",
  none: "*/*",
  binary: "*/*",
  auto: "*/*",
};

export function requestWriter(file: ToolFile, name: string, spec: RequestToolSpec): RequestWriter {
  const { request, response } = spec;
  const { method } = request;
  const partsOf = requestPartsFor(file, name);
  const body = requestBodyFor(file, spec);
  const isDocument = response.as === "xml" || response.as === "json";
  const maxBytes = isDocument ? undefined : (spec.limits.downloadBytes ?? DEFAULT_DOWNLOAD_BYTES);
  const fixed = { accept: request.accept ?? ACCEPT[response.as] };
  return (value, { base, credentials, scope }) => {
    const { path, query, headers } = partsOf(value, scope);
    const secret = encodeQuery(Object.entries(credentials.query));
    const search = query === "" || secret === "" ? query + secret : `${query}&${secret}`;
    const url = `${base}${path}${search === "" ? "" : `?${search}`}`;
    const written = body?.write(value);
    const type = written ? { "content-type": written.contentType } : undefined;
    const all = withCookies(withLowerCase(fixed, type ?? {}, headers, credentials.headers), credentials.cookies);
    const request: OutgoingRequest = { method, url, headers: all };
    if (written) request.body = written.body;
    if (maxBytes !== undefined) request.maxBytes = maxBytes;
    return request;
  };
}

/** Cookies of secrets follow those of the request. */
function withCookies(headers: Record<string, string>, cookies: Record<string, string>): Record<string, string> {
  const names = Object.keys(cookies);
  if (names.length === 0) return headers;
  const written = names.map((name) => `${name}=${cookies[name]}`);
  const { cookie } = headers;
  return { ...headers, cookie: [...(cookie === undefined ? [] : [cookie]), ...written].join("; ") };
}

/** Lower-case names, so that a credential and a value cannot have the same name. */
function withLowerCase(...each: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const headers of each) for (const name of Object.keys(headers)) all[name.toLowerCase()] = headers[name] ?? "";
  return all;
}
