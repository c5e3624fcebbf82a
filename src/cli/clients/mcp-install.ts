import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { clientFiles, findClientEntry, withClientEntries, clientFileText } from "../../config/import/client-file.ts";
import { CLIENTS, INSTALL_CLIENTS, type ClientId, type ClientFacts } from "../../config/import/clients.ts";
import { isNexusEntry } from "../../config/nexus-entry.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { readView, wrongUsage } from "../command/command-line.ts";

import { chosenServers } from "./chosen-servers.ts";
import { type NamedEntry, type ClientRoute, entryWriter } from "./entry-writer.ts";
import { CLIENT_OPTIONS, clientCalled, inThisWay, WAY_OPTIONS, wayGiven } from "./client-options.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { editClientFile } from "./edit-client-file.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import { shortPath } from "../output/short-path.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";

/** nexus mcp install claude-code */
export const install = defineCommand({
  usage:
    "nexus mcp install <client> [--stdio | --url URL] [--server ID]… [--view search] [--project] [--as NAME] [--force] [--dry-run]",
  description: `
Adds Nexus to the configuration of another program, which then has all your servers: as a command that the program starts
(--stdio, the default), or as the address of a running gateway (--url). Comments, order and everything else in the file are
preserved. An existing entry with the same name that is not Nexus is kept unless you use --force.

With --server, adds one server instead: its own entry if the program can run it the same way, otherwise a command that starts
Nexus for this server only. Secrets are never written to files of other programs: a server with a secret is connected
through Nexus. --config FILE becomes part of the command.

The command has absolute paths of Node and Nexus, so it works in programs that do not have your PATH.
Clients: ${INSTALL_CLIENTS.join(", ")}.`,
  options: {
    ...WAY_OPTIONS,
    ...CLIENT_OPTIONS,
    view: {
      type: "string",
      value: "search",
      help: "the program gets three tools, with which it finds, describes and calls all others",
    },
    force: { type: "boolean", help: "replace any entry with this name" },
    "dry-run": { type: "boolean", help: "show what would be written, write nothing" },
  },
  examples: [
    ["nexus mcp install claude-code", "give Claude Code all your servers"],
    ["nexus mcp install cursor --url http://127.0.0.1:3210/mcp", "connect Cursor to the gateway that nexus serve runs"],
    ["nexus mcp install codex --server github --dry-run", "show the entry of one server"],
    ["nexus mcp install cursor --view search", "for a program that gets too many tools: it finds them instead"],
    ["nexus mcp install vscode --project", "for everyone who opens this folder in VS Code"],
  ],

  async run(context) {
    const { words, options, out, surroundings } = context;
    const client = clientCalled(words[0] ?? "");
    const places = placesOf(context);
    const scope = options.project ? "project" : "user";
    const [file] = clientFiles(client, scope, places);
    if (file === undefined) throw noProjectFile(client);
    const entries = named(await entriesFor(context, client, wayGiven(options)), options.as);

    const installed: Installed[] = [];
    for (const entry of entries) {
      const state = await stateOf(entry, { client, file, replaces: options.force === true });
      installed.push({ ...entry, state });
    }
    const changes = installed
      .filter(({ state }) => state !== "unchanged")
      .map(({ name, value }) => [name, value] as const);
    const isDry = options["dry-run"] === true;
    const edit = (text: string) => withClientEntries(client, file, { text, entries: new Map(changes) });
    const isNew = !existsSync(file);
    if (changes.length > 0) await editClientFile(context, file, { edit, isDry });
    const isMachine = scope === "project" && entries.some(({ way, value }) => way === "pipe" && hasPaths(value));
    const facts = { client, file, scope, isNew, isDry, isMachine } as const;
    await tellInstallation(out, installed, { ...facts, home: surroundings.home });
  },
});

type InstallContext = CommandContext<{
  server?: readonly string[] | undefined;
  project?: boolean | undefined;
  view?: string | undefined;
}>;

async function entriesFor(
  context: InstallContext,
  client: ClientId,
  way: ClientRoute | undefined,
): Promise<NamedEntry[]> {
  const { options } = context;
  const writer = entryWriter(context, client, {
    isOfProject: options.project,
    isSearched: readView(options.view) === "search",
  });
  if (!options.server) {
    return [inThisWay(() => writer.nexus(way === undefined || way.kind === "own" ? { kind: "pipe" } : way))];
  }
  const servers = await chosenServers(context, options.server);
  return servers.map(({ definition, written }) => {
    if (!way && !definition.trusted) throw untrusted(definition);
    return inThisWay(() => writer.server(definition, written, way ?? { kind: "own" }));
  });
}

function named(entries: NamedEntry[], name: string | undefined): NamedEntry[] {
  if (name === undefined) return entries;
  if (entries.length > 1) throw wrongUsage("--as requires exactly one entry", "Use one --server, or remove --as.");
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name)) {
    throw wrongUsage(`--as "${name}" is not a valid name in every program`, "Use letters, digits, - and _.");
  }
  return entries.map((entry) => ({ ...entry, name }));
}

/** The effect of writing an entry; throws if it would replace an entry of the user. */
async function stateOf(
  { name, value }: NamedEntry,
  { client, file, replaces }: { client: ClientId; file: string; replaces: boolean },
): Promise<Installed["state"]> {
  const present = await findClientEntry(client, file, name);
  if (!present) return "added";
  if (isDeepStrictEqual(present.value, value)) return "unchanged";
  if (isNexusEntry(name, present.entry)) return "updated";
  if (replaces) return "replaced";
  throw new NexusError("CONFIG_INVALID", `${CLIENTS[client].title} already has another server "${name}"`, {
    phase: "config",
    source: { file },
    hint: "Choose another name with --as NAME, or replace the existing entry with --force.",
    mayHaveReached: false,
  });
}

/** Paths of this machine are useless to others. */
function hasPaths({ command, args }: Record<string, unknown>): boolean {
  return [command, args].flat().some((word) => typeof word === "string" && /^(?:[/\\]|[A-Za-z]:)/.test(word));
}

function noProjectFile(client: ClientId): NexusError {
  return wrongUsage(`${CLIENTS[client].title} has no project file`, "Remove --project.");
}

interface Installed extends NamedEntry {
  state: "added" | "updated" | "replaced" | "unchanged";
}

interface Facts {
  client: ClientId;
  file: string;
  scope: "user" | "project";
  isNew: boolean;
  isDry: boolean;
  /** Whether the project's file now has paths of this machine. */
  isMachine: boolean;
  home: string;
}

const VERBS: Readonly<Record<Installed["state"], readonly [done: string, dry: string, where: string]>> = {
  added: ["Added", "Would add", "to"],
  updated: ["Updated", "Would update", "in"],
  replaced: ["Replaced", "Would replace", "in"],
  unchanged: ["Nothing to do:", "Nothing to do:", "is already in"],
};

/** Reports what was written into another program's file, and what to do next. */
async function tellInstallation(out: Output, installed: readonly Installed[], facts: Facts): Promise<void> {
  const { client, file, scope, isNew, isDry, isMachine, home } = facts;
  const { title } = CLIENTS[client];
  if (out.json) {
    const entries = installed.map(({ name, state, value, way, reason, leftOut }) => {
      return { name, state, entry: value, through: way, reason, leftOut };
    });
    return out.value({ client, file, scope, isNew, dryRun: isDry, entries });
  }
  const where = `${title} (${visible(shortPath(file, home))}${isNew ? ", a new file" : ""})`;
  for (const { name, state, value, reason, leftOut } of installed) {
    const [done, dry, preposition] = VERBS[state];
    out.line(`${isDry ? dry : done} ${out.style("bold", name)} ${preposition} ${where}`);
    if (isDry) out.line(indented(await clientFileText(client, file, { [name]: value })));
    if (reason !== undefined) out.note(`${name} is connected through Nexus: ${visible(reason)}`);
    if (leftOut.length > 0) out.note(`${name}: ${leftOutText(leftOut, CLIENTS[client])}`);
  }
  if (isMachine)
    out.note("The command contains paths of this machine, so it does not work on other machines with this project.");
  const isChanged = !isDry && installed.some(({ state }) => state !== "unchanged");
  if (isChanged) out.note(`If ${title} is running, restart it.`);
}

/** Says only what is known: an entry without a setting does not mean that the program lacks the feature. */
function leftOutText(leftOut: readonly string[], { title, hasRoots }: ClientFacts): string {
  const what = `settings of Nexus that are not written for ${title}: ${leftOut.join(", ")}`;
  return hasRoots && leftOut.includes("roots") ? `${what}. ${title} sends roots of its own.` : what;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}

/** Another program would start the entry, so an untrusted entry must not be copied to it. */
function untrusted({ id, origin }: ServerDefinition): NexusError {
  return new NexusError("UNTRUSTED", `Server "${id}" is configured in a project file that is not trusted`, {
    server: id,
    source: origin,
    hint: "Review and trust the file: nexus mcp trust",
    mayHaveReached: false,
  });
}
