import { isLoopback } from "../../text/loopback.ts";

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
