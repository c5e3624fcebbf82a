import type { CurlRequest } from "../../workshop/documents/recorded/curl-request.ts";
import type { Output } from "../output/output.ts";
import { askFor } from "../output/terminal-questions.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const CREDENTIALS = "none, bearer, basic, header NAME, query NAME, cookie NAME";

/** Asks at the terminal what the first request of an API is. */
export async function askRequest(out: Output, signal: AbortSignal): Promise<CurlRequest> {
  const ask = (text: string, fallback?: string) => askFor(out, { text, fallback, signal });
  const base = await askUntil(
    out,
    () => ask("Base address of the API, such as https://api.example/v1"),
    (text) => (isAddress(text) ? undefined : `"${text}" is not an http or https address.`),
  );
  const method = await askUntil(
    out,
    async () => (await ask("Method of the first request", "GET")).toUpperCase(),
    (text) => (METHODS.includes(text) ? undefined : `"${text}" is not one of ${METHODS.join(", ")}.`),
  );
  const path = await ask("Its path, with names in braces for what differs between calls, such as orders/{orderId}", "");
  const query = namesIn(await ask("Names of its query parameters, with blanks between them", ""));
  const hasBody = method !== "GET" && method !== "DELETE";
  const fields = hasBody ? namesIn(await ask("Names of the fields of its JSON body", "")) : [];
  const credentials = await askUntil(
    out,
    () => ask(`Credentials (${CREDENTIALS})`, "none"),
    (text) => (credentialsOf(text) ? undefined : `"${text}" is not one of ${CREDENTIALS}.`),
  );
  return requestOf({ base, method, path, query, fields, credentials });
}

/** Repeats a question until its answer can be used. */
async function askUntil(
  out: Output,
  ask: () => Promise<string>,
  problemOf: (answer: string) => string | undefined,
): Promise<string> {
  for (;;) {
    const answer = (await ask()).trim();
    const problem = problemOf(answer);
    if (problem === undefined) return answer;
    out.note(problem);
  }
}

interface Answers {
  base: string;
  method: string;
  path: string;
  query: string[];
  fields: string[];
  credentials: string;
}

/** Values stay open: they are typed as text until a person says more. */
function requestOf({ base, method, path, query, fields, credentials }: Answers): CurlRequest {
  const { kind = "none", name = "" } = credentialsOf(credentials) ?? {};
  const parameters = query.map((each) => `${encodeURIComponent(each)}=`);
  if (kind === "query") parameters.push(`${name}={{${name}_secret}}`);
  const search = parameters.join("&");
  const url = `${base.replace(/\/+$/, "")}/${path.trim().replace(/^\/+/, "")}${search === "" ? "" : `?${search}`}`;
  const body = JSON.stringify(Object.fromEntries(fields.map((field) => [field, "<string>"])));
  return {
    method,
    url,
    headers: kind === "header" ? [[name, `{{${name}_secret}}`]] : [],
    cookies: kind === "cookie" ? [[name, ""]] : [],
    hasUser: kind === "basic",
    bearer: kind === "bearer",
    awsSigning: undefined,
    body: fields.length === 0 ? { kind: "none" } : { kind: "text", text: body, isJson: true },
  };
}

function credentialsOf(text: string): { kind: string; name: string } | undefined {
  const [, kind = "", name = ""] = /^(none|bearer|basic|header|query|cookie)(?:\s+([\w-]+))?$/i.exec(text) ?? [];
  const isNamed = ["header", "query", "cookie"].includes(kind.toLowerCase());
  return kind === "" || isNamed !== (name !== "") ? undefined : { kind: kind.toLowerCase(), name };
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^/\s]+/i.test(text) && URL.canParse(text);
}
