import { join } from "node:path";
import { NexusError } from "../../errors/nexus-error.ts";
import { writeAtomic } from "../../files/atomic-write.ts";
import { visible } from "../../text/visible.ts";
import { parseDocument, type LoadedDocument } from "../../workshop/documents/parse-document.ts";
import { consequencesOf, type Consequence } from "../../workshop/draft/merge/consequences.ts";
import { mergeDraft, type MergedDraft } from "../../workshop/draft/merge/merge-draft.ts";
import type { DraftOptions } from "../../workshop/draft/draft-tool-file.ts";
import { loadApi } from "../../workshop/load-api.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";

export interface ImportAgain {
  /** The tool file, which exists. */
  path: string;
  folder: string;
  documents: readonly LoadedDocument[];
  /** The text of the draft of these documents. */
  draft: (documents: readonly LoadedDocument[], specs: DraftOptions["documents"]) => string;
  isDry: boolean;
}

/** Merges a new version of the documents into the file that was made of the old one. */
export async function importAgain({ path, folder, documents, draft, isDry }: ImportAgain) {
  const { file, text, documents: stored } = await loadApi(path);
  const old = documents.map(({ name }) => {
    const kept = stored[name];
    const spec = file?.documents[name];
    if (kept === undefined || !spec) throw notFromIt(path, name);
    return { spec, document: parseDocument(kept, name) };
  });
  const specs = (hashes: readonly LoadedDocument[]) =>
    Object.fromEntries(
      hashes.map(({ name, sha256 }, index) => [
        name,
        { ...old[index]?.spec, file: old[index]?.spec.file ?? "", sha256 },
      ]),
    );
  const before = old.map(({ document }) => document);
  const merged = mergeDraft({
    base: draft(before, specs(before)),
    mine: text,
    theirs: draft(documents, specs(documents)),
  });
  if (!isDry) {
    for (const [index, document] of documents.entries()) {
      await writeAtomic(join(folder, old[index]?.spec.file ?? ""), document.text, 0o644);
    }
    await writeAtomic(path, merged.text, 0o644);
  }
  return { merged, consequences: consequencesOf(merged.text, merged.proposals) };
}

/** What was taken over, and what is left to decide. */
export function showMerge(
  out: Output,
  {
    merged,
    consequences,
    shown,
    isDry,
  }: { merged: MergedDraft; consequences: readonly Consequence[]; shown: string; isDry: boolean },
): void {
  for (const { path, what } of merged.taken) out.line(`${what.padEnd(8)}  ${visible(path)}`);
  for (const { proposal, changes, problem } of consequences) {
    out.line(`proposed  ${visible(`${proposal.where}: ${JSON.stringify(proposal.theirs) ?? "remove it"}`)}`);
    for (const { kind, path, message } of changes) out.line(`            ${kind}  ${visible(`${path}: ${message}`)}`);
    if (problem !== undefined) out.line(`            ${visible(problem)}`);
  }
  if (merged.taken.length + consequences.length > 0) out.line();
  const done = isDry ? "would be taken over" : "taken over";
  out.line(
    `${shown}: ${pluralize(merged.taken.length, "change")} ${done}, ${pluralize(consequences.length, "proposal")} left to decide.`,
  );
}

function notFromIt(path: string, name: string): NexusError {
  return new NexusError("CONFIG_INVALID", `${path} exists and was not made from a document called "${name}"`, {
    phase: "config",
    hint: "Use another --name or --out, or move the file away.",
    mayHaveReached: false,
  });
}
