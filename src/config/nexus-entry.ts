import { resolve } from "node:path";
import { findRegularText } from "../files/regular-file.ts";
import { isLoopback } from "../text/loopback.ts";
import { isRecord } from "../json/is-record.ts";

/** The name of the gateway's entry in other programs' files. */
export const NEXUS = "nexus";

const PACKAGE = "nexus-mcp";

/** Whether an entry starts this program as a stdio server, no matter how it was installed. */
export function startsGateway(entry: unknown): boolean {
  const words = wordsOf(entry);
  const program = words.findIndex(isProgram);
  const rest = words.slice(program + 1);
  return program !== -1 && rest.includes("serve") && rest.includes("--stdio");
}

/** The command and its arguments; a shell command line is split. */
function wordsOf(entry: unknown): string[] {
  if (!isRecord(entry)) return [];
  const given: unknown[] = [entry["command"], entry["args"]].flat();
  const words = given.filter((word) => typeof word === "string");
  return words.flatMap((word, index) => {
    const isLine = words.length === 1 || /^(?:-\w*c|\/c|-command)$/i.test(words[index - 1] ?? "");
    return isLine ? word.replaceAll(/["']/g, "").split(/\s+/) : [word];
  });
}

/** The program under any of its names: installed, fetched by npx or similar, or the file itself. */
function isProgram(word: string): boolean {
  const name = word.split(/[/\\]/).at(-1) ?? "";
  if (/^nexus(?:\.(?:cmd|exe|ps1))?$/i.test(name) || /^nexus-mcp(?:@.+)?$/.test(word)) return true;
  return /(?:^|[/\\])dist[/\\]cli[/\\]main\.js$/.test(word) && isOurs(word);
}

/**
 * Whether Nexus, started by this entry, would find the same entry again; not if it has its own file or serves one
 * server.
 */
export function servesItself(entry: unknown): boolean {
  return startsGateway(entry) && !wordsOf(entry).some((word) => /^--(?:config|server|demo)(?:=|$)/.test(word));
}

/** Whether an entry is Nexus itself: a stdio server, or a local gateway as `install` writes it. */
export function isNexusEntry(name: string, entry: unknown): boolean {
  if (startsGateway(entry)) return true;
  const url = isRecord(entry) ? entry["url"] : undefined;
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return (
    isLoopback(hostname) &&
    (/\/servers\/[a-z][a-z0-9-]*\/(?:search\/)?mcp$/.test(pathname) || (name === NEXUS && /\/mcp\/?$/.test(pathname)))
  );
}

const MAX_BYTES = 1024 * 1024;

/** A checkout can have any name, so its package.json decides. */
function isOurs(main: string): boolean {
  if (/[/\\]nexus-mcp[/\\]dist[/\\]cli[/\\]main\.js$/.test(main)) return true;
  try {
    const facts: unknown = JSON.parse(findRegularText(resolve(main, "../../../package.json"), MAX_BYTES) ?? "");
    return isRecord(facts) && facts["name"] === PACKAGE;
  } catch {
    return false;
  }
}
