import { defineServers, type LoadOptions } from "../config/load.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { wrongUsage } from "./command-line.ts";
import { splitWords } from "./text/split-words.ts";

/** The server that stands on the command line (`--stdio`, `--url`), if one does. */
export async function inPlaceServer(
  values: Readonly<Record<string, unknown>>,
  load: Omit<LoadOptions, "trust" | "explicit">,
): Promise<ServerDefinition | undefined> {
  const entry = inPlaceEntry(values);
  if (!entry) return undefined;
  const [definition] = await defineServers({ server: entry }, load);
  return definition;
}

/** The entry that `--stdio`, `--url`, `--header` and `--env` describe. */
export function inPlaceEntry(values: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const { stdio, url, header, env } = values;
  if (stdio !== undefined && url !== undefined)
    throw wrongUsage("--stdio and --url are given both", "Give one of them.");
  const headers = pairs(header, ":", `--header "Authorization: Bearer …"`);
  const variables = pairs(env, "=", "--env NAME=value");
  if (typeof stdio === "string") {
    if (headers) throw wrongUsage("--header goes with --url, not with --stdio");
    const [command, ...args] = splitWords(stdio);
    if (command === undefined) throw wrongUsage("--stdio names no command", `Write --stdio "node server.js".`);
    return { command, args, env: variables };
  }
  if (typeof url === "string") {
    if (variables) throw wrongUsage("--env goes with --stdio, not with --url");
    return { url, headers };
  }
  if (headers || variables) throw wrongUsage("--header and --env need a server", "Give --url or --stdio with them.");
  return undefined;
}

function pairs(given: unknown, separator: string, example: string): Record<string, string> | undefined {
  if (!Array.isArray(given)) return undefined;
  return Object.fromEntries(
    given.map((text: string) => {
      const at = text.indexOf(separator);
      if (at < 1) throw wrongUsage(`${JSON.stringify(text)} has no "${separator}"`, `Write ${example}.`);
      return [text.slice(0, at).trim(), separator === ":" ? text.slice(at + 1).trim() : text.slice(at + 1)];
    }),
  );
}
