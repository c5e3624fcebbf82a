import { encodeQuery } from "../codec/parameter/address.ts";
import { requestBodyFor } from "../codec/body/request-body.ts";
import type { Scope } from "../expression/expression.ts";
import { requestPartsFor } from "../codec/parameter/request-parts.ts";
import { DEFAULT_DOWNLOAD_BYTES, type ToolFile, type RequestToolSpec } from "../file/model/tool-file.ts";
import { NO_CREDENTIALS, type Credentials } from "./secrets/credentials.ts";
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
  const lowerCase = new LowerCaseNames();
  return (value, { base, credentials, scope }) => {
    const { path, query, headers } = partsOf(value, scope);
    const secret = credentials.query === NO_CREDENTIALS.query ? "" : encodeQuery(Object.entries(credentials.query));
    const search = query === "" || secret === "" ? query + secret : `${query}&${secret}`;
    const url = `${base}${path}${search === "" ? "" : `?${search}`}`;
    const written = body?.write(credentials.body === NO_CREDENTIALS.body ? value : { ...value, ...credentials.body });
    const type = written ? { "content-type": written.contentType } : undefined;
    const all: Record<string, string> = {};
    lowerCase.copy(fixed, all);
    if (type) lowerCase.copy(type, all);
    lowerCase.copy(headers, all);
    lowerCase.copy(credentials.headers, all);
    const request: OutgoingRequest = { method, url, headers: withCookies(all, credentials.cookies) };
    if (written) request.body = written.body;
    if (maxBytes !== undefined) request.maxBytes = maxBytes;
    return request;
  };
}

/** Cookies of secrets follow those of the request. */
function withCookies(headers: Record<string, string>, cookies: Record<string, string>): Record<string, string> {
  const names = cookies === NO_CREDENTIALS.cookies ? [] : Object.keys(cookies);
  if (names.length === 0) return headers;
  const written = names.map((name) => `${name}=${cookies[name]}`);
  const { cookie } = headers;
  return { ...headers, cookie: [...(cookie === undefined ? [] : [cookie]), ...written].join("; ") };
}

/**
 * Lower-case names, so that a credential and a value cannot have the same name. Each is converted once: they are those of
 * the tool file, and a new text would have to be searched among all names of members in each request.
 */
class LowerCaseNames {
  readonly #known = new Map<string, string>();

  copy(from: Readonly<Record<string, string>>, to: Record<string, string>): void {
    for (const name of Object.keys(from)) to[this.#of(name)] = from[name] ?? "";
  }

  #of(name: string): string {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const lower = name.toLowerCase();
    this.#known.set(name, lower);
    return lower;
  }
}
