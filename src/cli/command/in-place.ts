import { quoteWord } from "../../text/shell-words.ts";
import { defineServers, type LoadOptions } from "../../config/load.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { splitWords, wrongUsage } from "./command-line.ts";
import { maskCommand, maskUrl } from "../../masking/mask-words.ts";
import { isLoopback } from "../../text/loopback.ts";

/** The server on the command line (`--stdio`, `--url`), if there is one. */
export async function inPlaceServer(
  values: Readonly<Record<string, unknown>>,
  load: Omit<LoadOptions, "trust" | "explicit">,
): Promise<ServerDefinition | undefined> {
  const entry = inPlaceEntry(values);
  if (!entry) return undefined;
  const [definition] = await defineServers({ [inPlaceName(entry)]: entry }, load);
  return definition;
}

interface InPlaceEntry {
  command?: string;
  args?: string[];
  env?: Record<string, string> | undefined;
  url?: string;
  headers?: Record<string, string> | undefined;
}

/** The entry of `--stdio`, `--url`, `--header` and `--env`. */
export function inPlaceEntry(values: Readonly<Record<string, unknown>>): InPlaceEntry | undefined {
  const { stdio, url, header, env } = values;
  if (stdio !== undefined && url !== undefined)
    throw wrongUsage("--stdio and --url cannot be used together", "Use one of them.");
  const headers = pairs(header, ":", `--header "Authorization: Bearer …"`);
  const variables = pairs(env, "=", "--env NAME=value");
  if (typeof stdio === "string") {
    if (headers) throw wrongUsage("--header requires --url, not --stdio");
    const [command, ...args] = splitWords(stdio);
    if (command === undefined) throw wrongUsage("--stdio needs a command", `Use --stdio "node server.js".`);
    return { command, args, env: variables };
  }
  if (typeof url === "string") {
    if (variables) throw wrongUsage("--env requires --stdio, not --url");
    requireAddress(url);
    return { url, headers };
  }
  if (headers || variables) throw wrongUsage("--header and --env require a server", "Add --url or --stdio.");
  return undefined;
}

/** Options whose values may contain secrets: they are named, but their values are not repeated. */
const SHOWN: Readonly<Record<string, (value: string) => string>> = {
  header: (value) => `${/^[^:]*:/.exec(value)?.[0] ?? ""}…`,
  env: (value) => `${/^[^=]*=/.exec(value)?.[0] ?? ""}…`,
  url: maskUrl,
  stdio: maskCommand,
  database: (value) => (/^postgres/i.test(value) ? maskUrl(value) : value),
};

/** An option's value in a form that may be shown. */
export function shownValue(option: string, value: string): string {
  return (Object.hasOwn(SHOWN, option) ? SHOWN[option]?.(value) : undefined) ?? value;
}

/** The options for the same server in place, for commands to copy: ` --stdio 'node server.js'`, or nothing. */
export function inPlaceAgain(values: Readonly<Record<string, unknown>>): string {
  return ["stdio", "url", "header", "env"]
    .flatMap((option) => {
      const given: unknown[] = [values[option]].flat();
      return given
        .filter((value) => typeof value === "string")
        .map((value) => ` --${option} ${quoteWord(shownValue(option, value))}`);
    })
    .join("");
}

/** The option for the same configuration file, for commands to copy: ` --config FILE`, or nothing. */
export function configAgain({ config }: { readonly config?: string | undefined }): string {
  return config === undefined ? "" : ` --config ${quoteWord(config)}`;
}

/** The option for the same database, for commands to copy. The address of PostgreSQL may contain a password. */
export function databaseAgain(database: unknown): string {
  return typeof database === "string" ? ` --database ${quoteWord(shownValue("database", database))}` : "";
}

/** Throws an error about the command line, not about a configuration file. */
export function requireAddress(url: string): void {
  if (url.includes("${") || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return;
  const shown = maskUrl(url);
  const isHost = /^[\w.-]+(?::\d+)?(?:\/|$)/.test(url);
  const scheme = /^(?:localhost|127\.[\d.]+)(?:[:/]|$)/.test(url) ? "http" : "https";
  throw wrongUsage(
    `--url "${shown}" is not an http or https URL`,
    `Use the full URL: --url ${isHost ? quoteWord(`${scheme}://${shown}`) : "https://example.com/mcp"}`,
  );
}

export function pairs(given: unknown, separator: string, example: string): Record<string, string> | undefined {
  if (!Array.isArray(given)) return undefined;
  return Object.fromEntries(
    given.map((text: string) => {
      const at = text.indexOf(separator);
      if (at < 1) throw wrongUsage(`${JSON.stringify(text)} has no "${separator}"`, `Write ${example}.`);
      if (separator === ":") requireHeaderName(text.slice(0, at).trim(), example);
      return [text.slice(0, at).trim(), separator === ":" ? text.slice(at + 1).trim() : text.slice(at + 1)];
    }),
  );
}

/** Only the name is quoted: what follows it may be a secret. */
function requireHeaderName(name: string, example: string): void {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return;
  throw wrongUsage(`${JSON.stringify(name)} is not the name of a header`, `Write ${example}.`);
}

/** Programs that start another one, which is the one that people know. */
const LAUNCHERS = new Set(
  "node nodejs tsx ts-node bun bunx deno npx npm pnpm pnpx yarn uv uvx pipx python python3 py ruby sh bash zsh docker podman".split(
    " ",
  ),
);
/** Words between a launcher and the name of what it starts. Others may have a value, so the search ends there. */
const BETWEEN = new Set("-y --yes -q --quiet -m -u --rm -i -t -it -- run exec dlx tool".split(" "));

/** A name by which people recognise a server on the command line: the host of its URL or the name of its program. */
export function inPlaceName({
  command,
  args,
  url,
}: {
  command?: string;
  args?: readonly string[];
  url?: string;
}): string {
  // A variable in it may be secret.
  const text = command === undefined ? hostOf(url ?? "") : lastPart(startedProgram(command, args ?? []));
  return text === "" || text.includes("${") ? "server" : text;
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { hostname, host, port } = new URL(url);
  return isLoopback(hostname) && port !== "" ? `localhost:${port}` : host;
}

function startedProgram(command: string, args: readonly string[]): string {
  if (!LAUNCHERS.has(lastPart(command))) return command;
  const started = args.find((word) => !BETWEEN.has(word));
  return started === undefined || started.startsWith("-") || !isName(started) ? command : started;
}

/** Not code, as in `sh -c`, or an assignment. */
function isName(word: string): boolean {
  return /^[\w@./\\:+~-]+$/.test(word);
}

/** `server-files` of `@scope/server-files@1.2.0` or `C:\tools\server-files.exe`. */
function lastPart(path: string): string {
  const last = path.split(/[\\/]/).findLast((part) => part !== "") ?? "";
  return last.replace(/(?<=.)@.*$/, "").replace(/\.(?:exe|cmd|bat)$/i, "");
}
