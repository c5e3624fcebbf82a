import { checkerFor } from "../check/checker.ts";
import { requestBodyFor } from "../codec/body/request-body.ts";
import { requestPartsFor } from "../codec/parameter/request-parts.ts";
import { renderTemplate } from "../expression/template.ts";
import { requestTools } from "../file/model/request-tools.ts";
import { standInFor } from "../file/model/stand-in.ts";
import type { SecretsSpec, ToolFile } from "../file/model/tool-file.ts";

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
  const [tool, spec] = found;
  const { request, examples } = spec;
  const checked = checkerFor(file, tool)(examples[0]?.arguments);
  const { path, query, headers } = requestPartsFor(file, tool)(checked.value);
  const credentials = carried(request.secrets === undefined ? undefined : file.secrets[request.secrets], (name) => {
    return secrets[renderTemplate(name, checked.value)] ?? "";
  });
  const url = new URL(path, request.base === undefined ? base : standInFor(base, request.base));
  url.search = [query, new URLSearchParams(credentials.query).toString()].filter((part) => part !== "").join("&");
  const written = requestBodyFor(file, spec)?.write({ ...checked.value, ...credentials.body });
  const type = written ? { "Content-Type": written.contentType } : {};
  return {
    tool,
    method: request.method,
    url: url.href,
    headers: { ...headers, ...credentials.headers, ...type },
    ...(written ? { body: Buffer.from(written.body as string).toString("utf8") } : {}),
  };
}

function carried(
  spec: SecretsSpec | undefined,
  valueOf: (name: string) => string,
): { query: Record<string, string>; headers: Record<string, string>; body: Record<string, string> } {
  if (!spec) return { query: {}, headers: {}, body: {} };
  const all = (names: Record<string, string>) =>
    Object.fromEntries(Object.entries(names).map(([at, name]) => [at, valueOf(name)]));
  const { bearer, basic } = spec;
  const pair = basic && Buffer.from(`${valueOf(basic.user)}:${valueOf(basic.password)}`).toString("base64");
  return {
    query: all(spec.query),
    body: all(spec.body ?? {}),
    headers: {
      ...all(spec.headers),
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${valueOf(bearer)}` }),
      ...(pair === undefined ? {} : { Authorization: `Basic ${pair}` }),
    },
  };
}
