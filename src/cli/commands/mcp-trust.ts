import { stat } from "node:fs/promises";
import type { TrustStore } from "../../config/trust-store.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { defineCommand, type CommandContext } from "../command.ts";
import { wrongUsage } from "../command-line.ts";
import { placesOf } from "../configuring/configured-servers.ts";
import type { Output } from "../output.ts";
import type { ProjectFile } from "../configuring/project-files.ts";
import { projectFileFacts, showProjectFiles } from "../configuring/project-report.ts";

/** nexus mcp trust */
export const trust = defineCommand({
  usage: "nexus mcp trust [<folder>] [--show | --revoke] [--yes]",
  description: `
A project's configuration names programs to run, and comes with the project: nothing of it is started before you trust it.
This shows what the files of this folder, and of the folders above it, would start and send, as it is written there, and
asks. What is trusted is exactly what was shown: a file whose servers change has to be trusted again.`,
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
    const { trustStore } = await import("../../host/load-options.ts");
    const { loadProjectFiles } = await import("../configuring/project-files.ts");
    const store = trustStore(surroundings, stateFolder);
    const files = await loadProjectFiles(places, store);
    if (!out.json) {
      showProjectFiles(out, files);
      if (files.length === 0)
        out.line(`Nothing to trust: no project file configures servers in ${places.cwd} or above it.`);
    }
    if (options.show || files.length === 0) return finish(out, files);
    if (options.revoke) return revoke(out, files, store);
    return accept(context, files, { store, isSure: options.yes === true });
  },
});

async function folderCalled(word: string | undefined): Promise<string | undefined> {
  const isFolder = word === undefined || (await stat(word).catch(() => undefined))?.isDirectory();
  if (!isFolder)
    throw wrongUsage(`There is no folder "${word}"`, "Name the folder of a project, or none for this one.");
  return word;
}

async function revoke(out: Output, files: readonly ProjectFile[], store: TrustStore): Promise<number> {
  for (const { trustKey } of files) await store.revoke(trustKey);
  if (!out.json) out.line(`${files.length === 1 ? "This file is" : "These files are"} trusted no longer.`);
  return finish(
    out,
    files.map((file) => ({ ...file, trusted: false })),
  );
}

async function accept(
  { out, signal }: Pick<CommandContext, "out" | "signal">,
  files: readonly ProjectFile[],
  { store, isSure }: { store: TrustStore; isSure: boolean },
): Promise<number> {
  const open = files.filter(({ trusted, written }) => !trusted && written);
  if (open.length > 0 && !isSure && !(await isAgreed(out, open.length, signal))) {
    out.line("Nothing was trusted.");
    return 8;
  }
  for (const { trustKey, written } of open) if (written) await store.trust(trustKey, written.fingerprint);
  const [problem] = files.flatMap((file) => file.problem ?? []);
  if (problem && open.length === 0) throw problem;
  if (!out.json) out.line(open.length === 0 ? "All of it is trusted already." : "Trusted, as shown.");
  return finish(
    out,
    files.map((file) => ({ ...file, trusted: file.written !== undefined })),
  );
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
  const { askFor } = await import("../terminal-questions.ts");
  const answer = await askFor(out, { text: `Trust ${what}? y/N`, signal });
  return /^y(?:es)?$/i.test(answer.trim());
}

function finish(out: Output, files: readonly ProjectFile[]): number {
  if (out.json) out.value({ files: files.map(projectFileFacts) });
  return 0;
}
