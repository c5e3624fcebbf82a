import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { NexusError } from "../../errors/nexus-error.ts";
import { writeAtomic } from "../../files/atomic-write.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { OMISSION_REASONS } from "../../workshop/documents/api-facts.ts";
import { readCurlCommand, type CurlRequest } from "../../workshop/documents/recorded/curl-request.ts";
import { requestFacts } from "../../workshop/documents/curl/read-curl.ts";
import { draftToolFile, type Draft } from "../../workshop/draft/draft-tool-file.ts";
import { neededSecrets } from "../../workshop/file/model/secret-names.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { nearPath } from "../output/short-path.ts";
import { problemText } from "./loaded.ts";
import { requireFolder } from "./import-files.ts";
import { askFor } from "../output/terminal-questions.ts";

const DOCUMENT = "request.json";

/** nexus api new shop --curl 'curl https://api.shop.example/orders' */
export const apiNew = defineCommand({
  usage: "nexus api new [<name>] [--curl '<command>' | --curl -]",
  description: `
Starts a tool file with one tool: from a curl command, as it is in documentation or copied from a browser, or from questions
at the terminal. It writes api/<name>/<name>.nexus.yaml and, beside it, the request that it was made of. Nothing is overwritten
and nothing is sent.
Credentials in the command (Authorization, cookies, keys, passwords) are not written anywhere: they become named secrets, and the
output says which to set. --curl - reads the command from stdin, so that it is not in the shell's history.`,
  options: {
    curl: { type: "string", value: "COMMAND", help: "a curl command; - reads it from stdin" },
  },
  examples: [
    [
      "nexus api new shop --curl 'curl https://api.shop.example/orders/17'",
      "from a curl command, as api/shop/shop.nexus.yaml",
    ],
    ["pbpaste | nexus api new shop --curl -", "from a command that a browser copied"],
    ["nexus api new", "ask for the address, the request and its credentials"],
  ],

  async run({ words: [name], options, out, signal, surroundings }) {
    if (name !== undefined) checkName(name);
    const request = await requestFrom(options.curl, out, signal);
    const api = name ?? nameFrom(request.url);
    const folder = resolve("api", api);
    requireFolder(folder, "Choose another name, or another working folder.");
    const path = join(folder, `${api}.nexus.yaml`);
    const shown = nearPath(path, { cwd: process.cwd(), home: surroundings.home });
    for (const file of [path, join(folder, DOCUMENT)]) if (existsSync(file)) throw alreadyThere(file);
    const { facts, document } = requestFacts(request, titleFrom(api));
    const draft = draftToolFile(facts, {
      api,
      documents: { [document.name]: { file: DOCUMENT, sha256: document.sha256 } },
    });
    if (!draft.file || draft.tools.length === 0) throw notPossible(draft, shown);
    await makeFolder(folder);
    await writeAtomic(join(folder, DOCUMENT), document.text, 0o644);
    await writeAtomic(path, draft.text, 0o644);
    const secrets = neededSecrets(draft.file, api);
    if (out.json) {
      out.value({
        file: path,
        api,
        tools: draft.tools.map(({ name: tool }) => tool),
        secrets,
        questions: draft.questions,
      });
      return;
    }
    show({ api, shown, draft, secrets }, out);
  },
});

async function requestFrom(curl: string | undefined, out: Output, signal: AbortSignal): Promise<CurlRequest> {
  if (curl !== undefined) return readCurlCommand(curl === "-" ? await text(process.stdin) : curl);
  if (out.isInteractive) return askRequest(out, signal);
  throw wrongUsage(
    "There is no terminal to ask questions at",
    "Give a curl command: nexus api new shop --curl '…', or --curl - to read it from stdin.",
  );
}

function show(
  { api, shown, draft, secrets }: { api: string; shown: string; draft: Draft; secrets: readonly string[] },
  out: Output,
): void {
  const tools = draft.tools.map(({ name, effect }) => `${name} (${effect})`).join(", ");
  out.line(`Wrote ${out.style("bold", shown)} with the tool ${tools}.`);
  for (const { about, ask } of draft.questions) out.line(`  ${about}: ${ask}`);
  out.line();
  out.line("Next:");
  out.line(`  edit ${shown}: its types are guesses from one request`);
  out.advice(`  nexus api check ${api}`);
  out.advice(`  nexus api approve ${api}`);
  out.advice(`  nexus mcp add ${api} --api ${shown}`);
  for (const secret of secrets) out.advice(`  nexus secrets set ${secret}`);
}

function notPossible({ problems, omitted }: Draft, shown: string): NexusError {
  const why = omitted.map(({ reason, detail }) => detail ?? OMISSION_REASONS[reason]);
  const errors = problems.filter(({ severity }) => severity === "error").map((problem) => problemText(shown, problem));
  return new NexusError("CONFIG_INVALID", `No tool can be made of this request: ${[...why, ...errors].join("\n")}`, {
    hint: "Try a simpler request, and add the rest by hand.",
    mayHaveReached: false,
  });
}

function checkName(name: string): void {
  if (/^[a-z][a-z0-9-]{0,31}$/.test(name)) return;
  throw wrongUsage(
    `"${name}" cannot be the name of an API`,
    "Use at most 32 small letters, digits and -, beginning with a letter.",
  );
}

/** `shop` of `https://api.shop.example/v1`. */
function nameFrom(url: string): string {
  const whole = /^[a-z][\w+.-]*:\/\//i.test(url) ? url : `https://${url}`;
  const labels = URL.canParse(whole) ? new URL(whole).hostname.toLowerCase().split(".") : [];
  const own = labels
    .slice(0, -1)
    .filter((label) => !/^(?:www|api|apis|rest|app|dev|staging|v\d+|co|com|org)$/.test(label));
  const name = (own.at(-1) ?? "").replaceAll(/[^a-z0-9-]/g, "").slice(0, 32);
  return /^[a-z]/.test(name) ? name : "new-api";
}

function titleFrom(api: string): string {
  return api.charAt(0).toUpperCase() + api.slice(1).replaceAll("-", " ");
}

function alreadyThere(file: string): NexusError {
  return new NexusError("CONFIG_INVALID", `${file} already exists`, {
    phase: "config",
    hint: "Use another name, or move the file away: nothing is overwritten.",
    mayHaveReached: false,
  });
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const CREDENTIALS = "none, bearer, basic, header NAME, query NAME, cookie NAME";

/** Asks at the terminal what the first request of an API is. */
async function askRequest(out: Output, signal: AbortSignal): Promise<CurlRequest> {
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
