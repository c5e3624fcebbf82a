import { resolve } from "node:path";
import { type Import, type ImportedServer, findImports } from "../../config/import/import.ts";
import { withFixedPaths } from "../../config/import/import-paths.ts";
import { CLIENT_IDS } from "../../config/import/clients.ts";
import type { Candidate, ConfigContext } from "../../config/read/places.ts";
import { loadWritten } from "../../config/edit/written-servers.ts";
import { renderForPeople } from "../../errors/render.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { clientCalled } from "./client-options.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { TARGET, targetFile } from "../configure/target-file.ts";
import { misplacedIn } from "../../config/read/variables.ts";
import { nodeOf } from "../../source/source-node.ts";
import { visible } from "../../text/visible.ts";
import { circumstancesAsWritten, reachAsWritten } from "../configure/entry-words.ts";
import { adviceAbout, literalSecrets } from "../configure/literal-secrets.ts";
import type { Output } from "../output/output.ts";
import { reachText, reachMember } from "../look/reach-text.ts";
import { shortPath } from "../output/short-path.ts";
import { isInside, realPath } from "../../files/paths.ts";
import { NexusError, messageOf } from "../../errors/nexus-error.ts";
import { isDeepStrictEqual } from "node:util";
import { isNexusEntry } from "../../config/nexus-entry.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { resolveEntry } from "../../transport/server-entry.ts";

/** nexus mcp import github --from cursor */
export const importServers = defineCommand({
  usage:
    "nexus mcp import [<name>…] [--all] [--from CLIENT | --path FILE] [--dry-run] [--force] [--yes] [--project | --file FILE]",
  description: `
Without names, lists the servers that other programs have configured. With names or --all, copies their entries to your own
configuration; variables are copied unresolved. The other programs' files are not changed, and no server is started.

Servers that are already configured are skipped with a message. Servers in project files, and those that Claude Code keeps
for other folders, are imported only by name, because another person may have written them. Before a server from a file in this
folder is copied to your own configuration, Nexus shows what it would start and asks; without a terminal, add --yes.

Clients: ${CLIENT_IDS.join(", ")}.`,
  options: {
    from: { type: "string", value: "CLIENT", help: "only servers of this program" },
    path: { type: "string", value: "FILE", help: "the servers of this file instead of the files found" },
    all: { type: "boolean", help: "import all servers" },
    "dry-run": { type: "boolean", help: "show what would be done, change nothing" },
    force: { type: "boolean", help: "replace servers with the same name" },
    yes: { type: "boolean", short: "y", help: "copy servers of the project without asking" },
    ...TARGET,
  },
  examples: [
    ["nexus mcp import", "list the servers of Claude, Cursor, VS Code and others"],
    ["nexus mcp import github docs", "import these two servers"],
    ["nexus mcp import --all --from cursor --dry-run", "show what importing all servers of one program would do"],
    ["nexus mcp import --path ~/old/mcp.json", "list the servers of any file"],
  ],

  async run(context) {
    const { words, options, flags, out } = context;
    const places = placesOf(context);
    if (words.length > 0 && options.all)
      throw wrongUsage("Names and --all cannot be used together", "Use one of them.");
    const client = options.from === undefined ? undefined : clientCalled(options.from, CLIENT_IDS);
    const { path } = options;
    const only =
      path === undefined ? undefined : ({ client: client ?? "file", file: resolve(path), scope: "user" } as const);
    const found = await findImports(places, only);
    const servers = found.servers.filter((server) => client === undefined || server.client === client);
    const target = await targetFile({ ...options, config: flags.config }, places);
    const present = new Map((await loadWritten(target.file, places))?.servers.map(({ id, entry }) => [id, entry]));
    if (!out.json) for (const problem of found.problems) out.warn(renderForPeople(problem));
    if (words.length === 0 && !options.all)
      return listImports(out, { ...found, servers }, { present, home: places.home, path });

    const isOfProject = target.layer === "project";
    const fixed = servers.map((server) => withFixedPaths(server, { ...places, isOfProject }));
    const plan = planImport(fixed, {
      names: words,
      present,
      replace: options.force === true,
      scope: isOfProject ? "project" : "user",
      folder: places.cwd,
    });
    const isDry = options["dry-run"] === true;
    const foreign = plan.take.filter((server) => isOfOthers(server, places));
    // Nothing of a project's own file is started before it is trusted.
    const toAgree = isOfProject ? [] : foreign;
    if (isDry && !out.json) showForeign(out, toAgree);
    if (!isDry && !options.yes && !(await isImportAgreed(context, toAgree))) {
      out.line("Nothing was added.");
      return 8;
    }
    const hasForeign = foreign.length > 0;
    if (!isDry) await take(context, plan.take, { ...target, replace: options.force, hasForeign });
    report(context, { plan, target, found, isDry, hasForeign });
    // A server that was named but skipped because of another one is a failure.
    return words.length > 0 && plan.skip.some(({ harmless }) => !harmless) ? 3 : 0;
  },
});

async function take(
  context: Omit<CommandContext, "options">,
  servers: readonly ImportedServer[],
  { file, layer, replace, hasForeign }: Candidate & { replace?: boolean | undefined; hasForeign: boolean },
): Promise<void> {
  if (servers.length === 0) return;
  const { surroundings, stateFolder } = context;
  const edits = servers.map(({ name, entry, inputs }) => ({ kind: "add", name, entry, inputs, replace }) as const);
  if (layer === "project" && hasForeign) {
    // The entries may come from others, so the file has to be trusted by a user who has seen it.
    const { editFile } = await import("../../config/edit/edit.ts");
    await editFile(file, ...edits);
    return;
  }
  const { editTrusted } = await import("../../config/edit/edit-trusted.ts");
  const { trustStore } = await import("../../host/servers/load-options.ts");
  await editTrusted(file, edits, { trust: trustStore(surroundings, stateFolder), surroundings: placesOf(context) });
}

interface Outcome {
  plan: ImportPlan;
  target: Candidate;
  found: Import;
  isDry: boolean;
  /** Whether some of the imported entries may come from others. */
  hasForeign: boolean;
}

function report(
  { out, surroundings }: Pick<CommandContext, "out" | "surroundings">,
  { plan, target, found, isDry, hasForeign }: Outcome,
): void {
  if (!out.json) return tellImport(out, plan, { target, isDry, hasForeign, home: surroundings.home });
  const named = ({ id, name, client, source: { file } }: ImportedServer) => ({ server: id, name, client, from: file });
  out.value({
    file: target.file,
    dryRun: isDry,
    added: plan.take.map(named),
    skipped: plan.skip.map(({ server, reason }) => ({ ...named(server), reason })),
    errors: failuresForPrograms(found.problems),
  });
}

/** Reports what was imported, what was not, and what to check. */
function tellImport(
  out: Output,
  { take, skip }: ImportPlan,
  { target, isDry, hasForeign, home }: { target: Candidate; isDry: boolean; hasForeign: boolean; home: string },
): void {
  const verb = isDry ? "Would add" : "Added";
  for (const { id, client, entry, inputs } of take) {
    out.line(`${verb} ${out.style("bold", id)} from ${client}: ${visible(reachText({ ...entry }) ?? "")}`);
    for (const secret of literalSecrets(entry)) {
      out.warn(`${id}: ${visible(adviceAbout(secret))}`);
    }
    if (circumstancesAsWritten(entry).some((line) => line.includes("${input:"))) {
      out.note(`${id}: Nexus asks for \${input:…} at every start; use \${secret:…} to store a value`);
    }
    for (const { what, hint } of misplacedIn(nodeOf(entry), [], { inputs })) {
      out.warn(`${id} cannot start yet: ${visible(what)}.${hint === undefined ? "" : ` ${visible(hint)}`}`);
    }
  }
  for (const { server, reason } of skip) out.note(`Skipped ${server.id} from ${server.client}: ${visible(reason)}`);
  if (take.length === 0) return out.line(isDry ? "Nothing would be added." : "Nothing was added.");
  out.line(`${isDry ? "Nothing was written to" : "Written to"} ${shortPath(target.file, home)}`);
  if (!isDry && target.layer === "project" && hasForeign) {
    out.note("This file may contain entries of other people. Review and trust it: nexus mcp trust");
  }
}

/** Whether others may have written the entry: its file is in the working folder. */
function isOfOthers({ scope, source }: ImportedServer, { cwd, home }: ConfigContext): boolean {
  if (scope === "project") return true;
  const folder = realPath(cwd);
  return isInside(realPath(source.file), folder) && !isInside(realPath(home), folder);
}

/** Exactly what the entries would start and send, as written. */
function showForeign(out: Output, servers: readonly ImportedServer[]): void {
  for (const { id, source, entry, inputs } of servers) {
    out.line(`${out.style("bold", id)} in ${visible(source.file)}`);
    out.line(`  ${reachAsWritten(entry)}`);
    for (const line of circumstancesAsWritten(entry)) out.line(`    ${line}`);
    for (const { id: input, default: fallback } of inputs) {
      if (fallback !== undefined) out.line(`    \${input:${visible(input)}} defaults to ${visible(fallback)}`);
    }
  }
}

/** Shows the entries and asks whether to copy them; throws if there is no terminal. */
async function isImportAgreed(
  { out, signal }: Pick<CommandContext, "out" | "signal">,
  servers: readonly ImportedServer[],
): Promise<boolean> {
  const [first] = servers;
  if (!first) return true;
  if (!out.isInteractive) throw untrusted(first, servers);
  showForeign(out, servers);
  const { askFor } = await import("../output/terminal-questions.ts");
  const what = servers.length === 1 ? "this server" : `these ${servers.length} servers`;
  const answer = await askFor(out, {
    text: `Copy ${what} to your own configuration, from which servers are started? y/N`,
    signal,
  });
  return /^y(?:es)?$/i.test(answer.trim());
}

function untrusted({ id, source }: ImportedServer, servers: readonly ImportedServer[]): NexusError {
  const names = servers.map((server) => server.id).join(" ");
  return new NexusError(
    "UNTRUSTED",
    `Server "${id}" is configured in a file of this folder, which another person may have written`,
    {
      server: id,
      source,
      hint: `Review it with "nexus mcp import ${names} --dry-run", then add --yes.`,
      mayHaveReached: false,
    },
  );
}

/** The servers of other programs, with a heading for each file, and how to import them. */
function listImports(
  out: Output,
  { servers, problems }: Import,
  { present, home, path }: { present: ReadonlyMap<string, unknown>; home: string; path?: string | undefined },
): void {
  if (out.json) {
    const items = servers.map(({ id, name, client, scope, project, source, entry }) => {
      return {
        server: id,
        name,
        client,
        scope,
        project,
        source,
        ...reachMember({ ...entry }),
        present: present.has(id),
        isNexus: isNexusEntry(name, entry) || undefined,
      };
    });
    return out.value({ items, errors: failuresForPrograms(problems) });
  }
  if (servers.length === 0) {
    const none = path === undefined ? "No servers of other programs were found" : `${visible(path)} has no servers`;
    return out.note(`${none}. Add one: nexus mcp add NAME -- COMMAND …`);
  }
  const width = Math.max(...servers.map(({ id }) => id.length));
  for (const [heading, group] of byFile(servers, home)) {
    out.line(heading);
    for (const server of group) out.line(`  ${row(out, server, { width, present })}`);
    out.line();
  }
  const news = servers
    .filter(({ id, name, entry }) => !present.has(id) && !isNexusEntry(name, entry))
    .map(({ id }) => id);
  const [first] = news;
  if (first === undefined) out.line("All of these servers are already configured.");
  else out.advice(`To import: nexus mcp import ${first} … or nexus mcp import --all`);
}

function row(
  out: Output,
  { id, name, entry }: ImportedServer,
  { width, present }: { width: number; present: ReadonlyMap<string, unknown> },
): string {
  const isHere = present.has(id);
  const isSame = isHere && isDeepStrictEqual(present.get(id), entry);
  const isNexus = isNexusEntry(name, entry);
  const state = isNexus
    ? " (Nexus itself, not imported)"
    : isHere
      ? ` (${isSame ? "already configured" : "another server has this name"})`
      : "";
  const title = name === id ? "" : ` “${visible(name)}”`;
  const text = `${visible(reachText({ ...entry }) ?? "(neither command nor url)")}${title}`;
  // In full, because the user decides by what is shown here.
  return `${id.padEnd(width)}  ${text}${out.style("dim", state)}`;
}

function byFile(servers: readonly ImportedServer[], home: string): Map<string, ImportedServer[]> {
  const groups = new Map<string, ImportedServer[]>();
  for (const server of servers) {
    const { client, scope, project, source } = server;
    const whose = scope === "project" ? ", this project's" : project === undefined ? "" : `, for ${visible(project)}`;
    const heading = `${client}${whose} (${shortPath(source.file, home)})`;
    groups.set(heading, [...(groups.get(heading) ?? []), server]);
  }
  return groups;
}

/** A server that is not imported, and why. */
interface Skipped {
  server: ImportedServer;
  reason: string;
  /** Whether that is no problem, because the same server already exists. */
  harmless: boolean;
}

interface ImportPlan {
  take: ImportedServer[];
  skip: Skipped[];
}

export interface ImportWish {
  /** Empty: all. */
  names: readonly string[];
  /** The entries of the target file, by id. */
  present: ReadonlyMap<string, unknown>;
  replace: boolean;
  /**
   * The scope of the target file. A project's servers were written by others, so the user's file gets them only by
   * name.
   */
  scope: ImportedServer["scope"];
  /** The working folder: servers of other folders are imported only by name. */
  folder: string;
}

/** The servers for the target file: one for each id, without existing ones. */
export function planImport(found: readonly ImportedServer[], wish: ImportWish): ImportPlan {
  const plan: ImportPlan = { take: [], skip: [] };
  for (const server of wanted(found, wish)) {
    const skipped = reasonToSkip(server, plan, wish);
    if (skipped) plan.skip.push({ server, ...skipped });
    else plan.take.push(server);
  }
  return plan;
}

function wanted(found: readonly ImportedServer[], { names, scope, folder }: ImportWish): ImportedServer[] {
  if (names.length === 0) {
    const isHere = ({ project }: ImportedServer) => project === undefined || project === folder;
    return found.filter((server) => server.scope === scope && isHere(server));
  }
  return names.flatMap((name) => {
    const called = found.filter((server) => server.id === name || server.name === name);
    if (called.length > 0) return called;
    const ids = [...new Set(found.map(({ id }) => id))];
    const near = nearestName(name, ids);
    const known = ids.length === 0 ? "No servers of other programs were found." : `Available: ${ids.join(", ")}.`;
    throw new NexusError("NAME_UNKNOWN", `No other program has a server "${name}"`, {
      hint: near === undefined ? known : `Did you mean "${near}"? ${known}`,
      mayHaveReached: false,
    });
  });
}

function reasonToSkip(
  { id, name, entry }: ImportedServer,
  { take }: ImportPlan,
  { present, replace }: ImportWish,
): Omit<Skipped, "server"> | undefined {
  if (isNexusEntry(name, entry)) {
    return { reason: "it is Nexus itself, which would start itself in a loop", harmless: false };
  }
  const chosen = take.find((other) => other.id === id);
  if (chosen) {
    const isSame = isDeepStrictEqual(chosen.entry, entry);
    const reason = isSame
      ? `identical to the entry of ${chosen.client}`
      : `the entry of ${chosen.client} is used; choose another with --from`;
    return { reason, harmless: isSame };
  }
  if (isDeepStrictEqual(present.get(id), entry)) return { reason: "is already configured", harmless: true };
  if (present.has(id) && !replace) {
    return { reason: "another server has this name; --force replaces it", harmless: false };
  }
  try {
    resolveEntry({ ...entry, id });
    return undefined;
  } catch (error) {
    return { reason: messageOf(error), harmless: false };
  }
}
