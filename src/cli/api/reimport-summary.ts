import { quotePath } from "../../text/shell-words.ts";
import { joinFirst, shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { Reimport } from "../../workshop/draft/import-again.ts";
import type { Consequence } from "../../workshop/draft/merge/consequences.ts";
import type { TakenChange } from "../../workshop/draft/merge/merge-draft.ts";
import { groupedBy } from "../../text/grouped-by.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { showChanges } from "./change-rows.ts";

const SHOWN_PLACES = 12;

/** What an import changed in a file that existed, for programs. */
export function reimportJson({ taken, edited, consequences, lost }: Reimport): object {
  return {
    taken: taken.filter(isVisible),
    edited: edited.filter(isVisible),
    proposed: consequences.map(({ proposal: { where, mine, theirs }, changes, problem }) => ({
      path: where,
      mine,
      theirs,
      changes,
      ...(problem === undefined ? {} : { problem }),
    })),
    ...(lost.length === 0 ? {} : { lostDocuments: lost }),
  };
}

/** What was taken over, what stays because a person edited it, what is proposed, and what to do next. */
export function showReimport(
  { again, shown, isDry, isSame }: { again: Reimport; shown: string; isDry: boolean; isSame: boolean },
  out: Output,
): void {
  const { lost, consequences } = again;
  if (isSame && consequences.length === 0) out.line(`${shown} is up to date; nothing was changed.`);
  else out.line(`${isSame ? "Kept" : isDry ? "Would update" : "Updated"} ${shown}`);
  if (lost.length > 0) {
    out.line(
      `  The old version of ${joinFirst(lost, 3)} is not beside the file any more, so edits cannot be told from changes of the description. All differences are proposed.`,
    );
  }
  showPlaces(out, "Taken over from the description", again.taken);
  showPlaces(out, "Stays, because it was edited", again.edited);
  if (consequences.length > 0) showProposals(out, consequences);
  if (isDry || isSame) return;
  const word = quotePath(shown);
  out.line();
  out.line("Next");
  if (again.taken.some(({ path }) => path === "questions"))
    out.advice(`  nexus api questions ${word}  answer the questions`);
  out.advice(`  nexus api diff ${word}       see what changed since the approval`);
  out.advice(`  nexus api test ${word}       run its checks against a fake of the API`);
  out.advice(`  nexus api approve ${word}    approve the new version`);
}

/** The documents and the line about the selection always follow the import. */
function isVisible({ path }: TakenChange): boolean {
  return path !== "nexus" && path !== "documents" && !path.startsWith("documents.");
}

function showPlaces(out: Output, title: string, all: readonly TakenChange[]): void {
  const places = all.filter(isVisible);
  if (places.length === 0) return;
  out.line();
  out.line(`${title}: ${pluralize(places.length, "place")}`);
  for (const [what, same] of groupedBy(places, (place) => place.what)) {
    for (const { path } of same.slice(0, SHOWN_PLACES)) out.line(`  ${what.padEnd(7)}  ${visible(path)}`);
    if (same.length > SHOWN_PLACES) out.line(`  ${what.padEnd(7)}  and ${same.length - SHOWN_PLACES} more`);
  }
}

function showProposals(out: Output, consequences: readonly Consequence[]): void {
  out.line();
  out.line(
    `Proposed: ${pluralize(consequences.length, "place")}, changed both in the file and in the description. The file keeps the edit; change it by hand if the description is right.`,
  );
  for (const { proposal, changes, problem } of consequences) {
    out.line(`  ${visible(proposal.where)}`);
    out.line(`      file:        ${asText(proposal.mine)}`);
    out.line(`      description: ${asText(proposal.theirs)}`);
    if (problem !== undefined) out.line(`      It cannot be taken over alone: ${visible(problem)}`);
    else if (changes.length === 0) out.line("      Taking it over changes nothing for callers.");
    else showChanges({ line: (text) => out.line(`    ${text}`), style: out.style.bind(out) }, changes);
  }
}

function asText(value: unknown): string {
  return value === undefined ? "(not there)" : visible(shorten(JSON.stringify(value), 300));
}
