import { stat } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { DATABASE_OPTION, defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { TenantState } from "../store/tenant-state.ts";
import { placesOf } from "../configure/configured-servers.ts";
import type { Output } from "../output/output.ts";
import type { ProjectFile } from "./project-files.ts";
import { isRecord } from "../../json/is-record.ts";
import { renderForPeople, renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import { circumstancesAsWritten, reachAsWritten } from "../configure/entry-words.ts";
import { projectFolderOf, pathOf, type ConfigContext } from "../../config/read/places.ts";
import { toAbsolutePath } from "../../files/paths.ts";
import { loadApi, type LoadedApi } from "../../workshop/load-api.ts";
import { isApproved } from "../../workshop/review/lock.ts";
import { isAccepted, accept as acceptContent, revokeAcceptance } from "../../workshop/acceptance.ts";
import { showForApproval } from "../api/show-for-approval.ts";
import { differences } from "../../workshop/review/differences.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";

const NOTHING: Pick<LoadedApi, "api" | "lock" | "documents" | "problems"> = { documents: {}, problems: [] };

/** nexus mcp trust */
export const trust = defineCommand({
  usage: "nexus mcp trust [<folder>] [--show | --revoke] [--yes]",
  description: `
A project's configuration can run programs, so Nexus starts none of its servers until you trust it. This command shows what
the files of this folder and its parent folders would start and send, and asks. You trust exactly what is shown: if the
servers of a file change, you must trust it again. Tool files that another person approved are shown completely, and your
trust counts as your approval.

If a database was chosen (--database, NEXUS_DATABASE or gateway.database), the files are also trusted by every gateway on it that
has the same files at the same place.`,
  options: {
    show: { type: "boolean", help: "only show the content" },
    revoke: { type: "boolean", help: "no longer trust the files" },
    yes: { type: "boolean", short: "y", help: "trust without asking" },
    ...DATABASE_OPTION,
  },
  examples: [
    ["nexus mcp trust", "show what this project would start, and ask"],
    ["nexus mcp trust --show ~/work/project", "only show the content"],
    ["nexus mcp trust --yes", "for scripts, if you know what the project starts"],
    ["nexus mcp trust --revoke", "no longer trust this project"],
  ],

  async run(context) {
    const { words, options, out } = context;
    if (options.show && options.revoke)
      throw wrongUsage("--show and --revoke cannot be used together", "Use one of them.");
    const places = placesOf(context, await folderCalled(words[0]));
    const { loadProjectFiles } = await import("./project-files.ts");
    await using state = new TenantState(context);
    const store = await trustOf(state);
    const files = await loadProjectFiles(places, store);
    const project: Project = { files, toolFiles: await loadToolFiles(files, places, store) };
    if (!out.json) {
      showProjectFiles(out, files);
      showToolFiles(out, project.toolFiles);
      if (files.length === 0)
        out.line(`Nothing to trust: no project file configures servers in ${places.cwd} or above it.`);
    }
    if (options.show || files.length === 0) return finish(out, project);
    if (options.revoke) return revoke(out, project, store);
    return accept(context, project, { store, isSure: options.yes === true });
  },
});

/** Decisions are recorded for this machine, and in the database if one was chosen. */
async function trustOf(state: TenantState): Promise<TrustStore> {
  const shared = await state.findStore();
  if (!shared) return state.trust;
  const { sharedTrust } = await import("../../compose/stored-state.ts");
  return sharedTrust(state.trust, shared.trust);
}

async function folderCalled(word: string | undefined): Promise<string | undefined> {
  const isFolder = word === undefined || (await stat(word).catch(() => undefined))?.isDirectory();
  if (!isFolder)
    throw wrongUsage(
      `The folder "${word}" does not exist`,
      "Use the folder of a project, or omit it for the current folder.",
    );
  return word;
}

interface Project {
  files: readonly ProjectFile[];
  toolFiles: readonly ProjectToolFile[];
}

async function revoke(out: Output, { files, toolFiles }: Project, store: TrustStore): Promise<number> {
  for (const { trustKey } of files) await store.revoke(trustKey);
  await revokeToolFiles(toolFiles, store);
  if (!out.json) out.line(`${files.length === 1 ? "This file is" : "These files are"} no longer trusted.`);
  return finish(out, {
    files: files.map((file) => ({ ...file, trusted: false })),
    toolFiles: toolFiles.map((file) => ({ ...file, isAccepted: false })),
  });
}

async function accept(
  { out, signal }: Pick<CommandContext, "out" | "signal">,
  { files, toolFiles }: Project,
  { store, isSure }: { store: TrustStore; isSure: boolean },
): Promise<number> {
  const open = files.filter(({ trusted, written }) => !trusted && written);
  const count = open.length + toolFiles.filter(isOpen).length;
  if (count > 0 && !isSure && !(await isAgreed(out, count, signal))) {
    out.line("Nothing was trusted.");
    return 8;
  }
  for (const { trustKey, written } of open) if (written) await store.trust(trustKey, written.fingerprint);
  await acceptToolFiles(toolFiles, store);
  const [problem] = files.flatMap((file) => file.problem ?? []);
  if (problem && count === 0) throw problem;
  if (!out.json) out.line(count === 0 ? "Everything is already trusted." : "Trusted, as shown.");
  return finish(out, {
    files: files.map((file) => ({ ...file, trusted: file.written !== undefined })),
    toolFiles: toolFiles.map((file) => ({ ...file, isAccepted: file.isAccepted || file.isLocked })),
  });
}

async function isAgreed(out: Output, count: number, signal: AbortSignal): Promise<boolean> {
  const what = count === 1 ? "this file" : `these ${count} files`;
  if (!out.isInteractive) {
    throw new NexusError("INPUT_FAILED", `Trusting ${what} needs a confirmation, and there is no terminal`, {
      hint: `Review what would be started with "nexus mcp trust --show", then add --yes.`,
      mayHaveReached: false,
    });
  }
  const { askFor } = await import("../output/terminal-questions.ts");
  const answer = await askFor(out, { text: `Trust ${what}? y/N`, signal });
  return /^y(?:es)?$/i.test(answer.trim());
}

function finish(out: Output, { files, toolFiles }: Project): number {
  if (out.json) out.value({ files: files.map(projectFileFacts), toolFiles: toolFiles.map(toolFileFacts) });
  return 0;
}

/** Exactly what a project's files would start and send, as written. */
function showProjectFiles(out: Output, files: readonly ProjectFile[]): void {
  for (const { file, trusted, written, problem } of files) {
    const state = problem ? "cannot be used" : trusted ? "trusted" : "not trusted";
    out.line(`${visible(file)} (${out.style(trusted ? "green" : "yellow", state)})`);
    if (problem) out.line(indented(renderForPeople(problem)));
    const servers = written?.servers ?? [];
    const width = Math.max(0, ...servers.map(({ id }) => id.length));
    for (const { id, entry } of servers) {
      out.line(
        `  ${out.style("bold", id.padEnd(width))}  ${reachAsWritten(entry)}${isOff(entry) ? " (disabled)" : ""}`,
      );
      for (const line of circumstancesAsWritten(entry)) out.line(`  ${" ".repeat(width)}    ${line}`);
    }
    for (const { id, default: fallback } of written?.inputs ?? []) {
      if (fallback !== undefined) out.line(`  \${input:${visible(id)}} defaults to ${visible(fallback)}`);
    }
    for (const { path, variables } of textFacts(written)) {
      const what = variables === undefined ? "is read" : `sets ${variables.join(", ") || "nothing"}`;
      out.line(`  ${visible(`${path} ${what}`)}`);
    }
    if (written && servers.length === 0) out.line("  no servers");
    out.line();
  }
}

/** The same for programs. */
function projectFileFacts({ file, layer, trusted, written, problem }: ProjectFile): Record<string, unknown> {
  return {
    file,
    layer,
    trusted,
    fingerprint: written?.fingerprint,
    servers: written?.servers.map(({ id, name, entry }) => ({ server: id, name, entry })) ?? [],
    files: textFacts(written),
    ...(problem ? renderForPrograms(problem) : {}),
  };
}

/** Only the names of variables: values may be secret, but a name such as NODE_OPTIONS shows that code is loaded. */
function textFacts(written: ProjectFile["written"]): { path: string; variables?: string[] }[] {
  return (written?.files ?? []).flatMap(({ path, text, isEnvironment }) => {
    if (text === null) return [];
    return [{ path, ...(isEnvironment ? { variables: Object.keys(parseEnv(text)) } : {}) }];
  });
}

function isOff(entry: unknown): boolean {
  return isRecord(entry) && (entry["enabled"] === false || entry["disabled"] === true);
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}

/** The tool files of a project's entries, except those whose path has variables: `nexus api approve` handles them. */
async function loadToolFiles(
  files: readonly ProjectFile[],
  { platform, home }: ConfigContext,
  trust: TrustStore,
): Promise<ProjectToolFile[]> {
  const named = files.flatMap(({ file, written }) => {
    const base = projectFolderOf(file, pathOf(platform));
    return (written?.servers ?? []).flatMap(({ id, entry }) => {
      const path = isRecord(entry) ? entry["api"] : undefined;
      const isPlain = typeof path === "string" && path !== "" && !path.includes("${");
      return isPlain ? [{ server: id, path: toAbsolutePath(path, { home, base }) }] : [];
    });
  });
  return Promise.all(named.map(({ server, path }) => loadToolFile(server, path, trust)));
}

async function loadToolFile(server: string, path: string, trust: TrustStore): Promise<ProjectToolFile> {
  const { api, lock, documents, problems } = await loadApi(path).catch(() => NOTHING);
  if (!api || problems.some(({ severity }) => severity === "error")) {
    return { server, path, documents, api: undefined, isLocked: false, isAccepted: false };
  }
  return {
    server,
    path,
    documents,
    api,
    isLocked: isApproved(lock, api),
    isAccepted: await isAccepted(path, api, trust),
  };
}

/** Whether trusting the project accepts it. */
function isOpen({ isLocked, isAccepted }: ProjectToolFile): boolean {
  return isLocked && !isAccepted;
}

/** What would be served and was not accepted yet. */
function showToolFiles(out: Output, files: readonly ProjectToolFile[]): void {
  for (const file of files) {
    const { server, path, api, documents, isLocked } = file;
    if (isOpen(file) && api) {
      out.line(`${visible(path)} (server ${server})`);
      showForApproval(out, { api, lock: undefined, quotes: false, changes: differences(undefined, api, documents) });
    } else if (!isLocked) {
      out.advice(`${visible(path)} (server ${server}) is not approved, so it is not served: nexus api approve`);
      out.line();
    }
  }
}

async function acceptToolFiles(files: readonly ProjectToolFile[], trust: TrustStore): Promise<void> {
  for (const { path, api } of files.filter(isOpen)) if (api) await acceptContent(path, api, trust);
}

async function revokeToolFiles(files: readonly ProjectToolFile[], trust: TrustStore): Promise<void> {
  for (const { path } of files) await revokeAcceptance(path, trust);
}

/** The same for programs. */
function toolFileFacts({ server, path, api, isLocked, isAccepted }: ProjectToolFile): Record<string, unknown> {
  return { server, file: path, hash: api?.hash, approved: isLocked, trusted: isAccepted };
}

/** A tool file of a project's entry, as read. */
interface ProjectToolFile {
  server: string;
  path: string;
  /** Undefined if it cannot be compiled. */
  api: CompiledApi | undefined;
  documents: LoadedApi["documents"];
  /** Whether its lock approves this version. */
  isLocked: boolean;
  /** Whether this user has accepted this version. */
  isAccepted: boolean;
}
