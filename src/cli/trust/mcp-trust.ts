import { stat } from "node:fs/promises";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { placesOf } from "../configure/configured-servers.ts";
import type { Output } from "../output/output.ts";
import type { ProjectFile } from "./project-files.ts";
import {
  acceptToolFiles,
  isOpen,
  loadToolFiles,
  revokeToolFiles,
  showToolFiles,
  toolFileFacts,
  type ProjectToolFile,
} from "./project-tool-files.ts";
import { projectFileFacts, showProjectFiles } from "./project-report.ts";

/** nexus mcp trust */
export const trust = defineCommand({
  usage: "nexus mcp trust [<folder>] [--show | --revoke] [--yes]",
  description: `
A project's configuration names programs to run, and comes with the project: nothing of it is started before you trust it.
This shows what the files of this folder, and of the folders above it, would start and send, as it is written there, and
asks. What is trusted is exactly what was shown: a file whose servers change has to be trusted again. Tool files that others
approved are shown as a whole, and count as approved by you from then on.`,
  words: { min: 0, max: 1 },
  options: {
    show: { type: "boolean", help: "only show it" },
    revoke: { type: "boolean", help: "trust the files no longer" },
    yes: { type: "boolean", short: "y", help: "do not ask" },
  },
  examples: [
    ["nexus mcp trust", "shows what this project would start, and asks"],
    ["nexus mcp trust --show ~/work/project", "only shows it"],
    ["nexus mcp trust --yes", "for scripts, where what the project starts is known"],
    ["nexus mcp trust --revoke", "takes it back"],
  ],

  async run(context) {
    const { words, options, out, surroundings, stateFolder } = context;
    if (options.show && options.revoke) throw wrongUsage("--show and --revoke are given both", "Give one of them.");
    const places = placesOf(context, await folderCalled(words[0]));
    const { trustStore } = await import("../../host/servers/load-options.ts");
    const { loadProjectFiles } = await import("./project-files.ts");
    const store = trustStore(surroundings, stateFolder);
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

async function folderCalled(word: string | undefined): Promise<string | undefined> {
  const isFolder = word === undefined || (await stat(word).catch(() => undefined))?.isDirectory();
  if (!isFolder)
    throw wrongUsage(`There is no folder "${word}"`, "Name the folder of a project, or none for this one.");
  return word;
}

interface Project {
  files: readonly ProjectFile[];
  toolFiles: readonly ProjectToolFile[];
}

async function revoke(out: Output, { files, toolFiles }: Project, store: TrustStore): Promise<number> {
  for (const { trustKey } of files) await store.revoke(trustKey);
  await revokeToolFiles(toolFiles, store);
  if (!out.json) out.line(`${files.length === 1 ? "This file is" : "These files are"} trusted no longer.`);
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
  if (!out.json) out.line(count === 0 ? "All of it is trusted already." : "Trusted, as shown.");
  return finish(out, {
    files: files.map((file) => ({ ...file, trusted: file.written !== undefined })),
    toolFiles: toolFiles.map((file) => ({ ...file, isAccepted: file.isAccepted || file.isLocked })),
  });
}

async function isAgreed(out: Output, count: number, signal: AbortSignal): Promise<boolean> {
  const what = count === 1 ? "this file" : `these ${count} files`;
  if (!out.isInteractive) {
    throw new NexusError(
      "INPUT_FAILED",
      `Whether ${what} can be trusted has to be answered, and there is no terminal`,
      {
        hint: `Look at what would be started ("nexus mcp trust --show"), then give --yes.`,
        mayHaveReached: false,
      },
    );
  }
  const { askFor } = await import("../output/terminal-questions.ts");
  const answer = await askFor(out, { text: `Trust ${what}? y/N`, signal });
  return /^y(?:es)?$/i.test(answer.trim());
}

function finish(out: Output, { files, toolFiles }: Project): number {
  if (out.json) out.value({ files: files.map(projectFileFacts), toolFiles: toolFiles.map(toolFileFacts) });
  return 0;
}
