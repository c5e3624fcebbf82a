import { checkerFor } from "../check/checker.ts";
import { codecFor } from "../codec/codec-for.ts";
import { requestPartsFor } from "../codec/form/request-parts.ts";
import { renderTemplate } from "../expression/template.ts";
import { requestTools } from "../file/model/request-tools.ts";
import type { SecretsSpec, ToolFile } from "../file/model/tool-file.ts";
import { CONTENT_TYPES } from "./received.ts";

/** A valid request for people to try. */
export interface ExampleRequest {
  tool: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** The first read-only example of the file, as a request with the fake's credentials. */
export function exampleRequest(
  file: ToolFile,
  base: string,
  secrets: Readonly<Record<string, string>>,
): ExampleRequest | undefined {
  const found = requestTools(file).find(([, { effect, examples }]) => effect === "read" && examples.length > 0);
  if (!found) return undefined;
  const [tool, { input, request, examples }] = found;
  const checked = checkerFor(file, tool)(examples[0]?.arguments);
  const { path, query, headers } = requestPartsFor(file, tool)(checked.value);
  const credentials = carried(request.secrets === undefined ? undefined : file.secrets[request.secrets], (name) => {
    return secrets[renderTemplate(name, checked.value)] ?? "";
  });
  const url = new URL(path, base);
  url.search = [query, new URLSearchParams(credentials.query).toString()].filter((part) => part !== "").join("&");
  const { body } = request;
  return {
    tool,
    method: request.method,
    url: url.href,
    headers: { ...headers, ...credentials.headers, ...(body ? { "Content-Type": CONTENT_TYPES[body] } : {}) },
    ...(body ? { body: codecFor(file, input, body, { side: "input" }).encode(checked.value) } : {}),
  };
}

function carried(
  spec: SecretsSpec | undefined,
  valueOf: (name: string) => string,
): { query: Record<string, string>; headers: Record<string, string> } {
  if (!spec) return { query: {}, headers: {} };
  const all = (names: Record<string, string>) =>
    Object.fromEntries(Object.entries(names).map(([at, name]) => [at, valueOf(name)]));
  const { bearer, basic } = spec;
  const pair = basic && Buffer.from(`${valueOf(basic.user)}:${valueOf(basic.password)}`).toString("base64");
  return {
    query: all(spec.query),
    headers: {
      ...all(spec.headers),
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${valueOf(bearer)}` }),
      ...(pair === undefined ? {} : { Authorization: `Basic ${pair}` }),
    },
  };
}
