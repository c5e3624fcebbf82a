import { resolve } from "node:path";
import type { Import, ImportedServer } from "../../config/import/import.ts";
import { findImports } from "../../config/import/import.ts";
import { withFixedPaths } from "../../config/import/import-paths.ts";
import { CLIENT_IDS } from "../../config/import/clients.ts";
import type { Candidate } from "../../config/read/places.ts";
import { loadWritten } from "../../config/edit/written-servers.ts";
import { renderForPeople } from "../../errors/render.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { clientCalled } from "./client-options.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { isImportAgreed, isOfOthers, showForeign } from "./import-consent.ts";
import { listImports } from "./import-list.ts";
import { planImport, type ImportPlan } from "./import-plan.ts";
import { tellImport } from "./import-report.ts";
import { TARGET, targetFile } from "../configure/target-file.ts";

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
  words: { min: 0, max: Infinity },
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
    if (!out.json)
      for (const problem of found.problems)
        out.note(`${out.onStderr("yellow", "warning:")} ${renderForPeople(problem)}`);
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
