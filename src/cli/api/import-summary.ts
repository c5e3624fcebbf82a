import { joinFirst, shorten } from "../../text/shorten.ts";
import { quotePath } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { OMISSION_REASONS, type OmissionReason, type OmittedOperation } from "../../workshop/documents/api-facts.ts";
import type { Draft } from "../../workshop/draft/draft-tool-file.ts";
import { groupedBy } from "../../text/grouped-by.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";

const SHOWN_QUESTIONS = 8;
const SHOWN_ADDRESSES = 6;

export interface ImportSummary {
  draft: Draft;
  /** The path of the tool file, for people. */
  shown: string;
  api: string;
  isDry: boolean;
}

/** Reasons that say nothing without what was found. */
const NEED_DETAIL: ReadonlySet<OmissionReason> = new Set(["unreadable-operation", "unresolved-reference"]);

function withDetail({ key, reason, detail }: OmittedOperation): string {
  return detail === undefined || !NEED_DETAIL.has(reason) ? key : `${key} (${shorten(detail, 120)})`;
}

/** Why operations did not become tools: one line for each reason, with the first ones. */
export function omissionLines(omitted: readonly OmittedOperation[]): string[] {
  return [...groupedBy(omitted, ({ reason }) => reason)].map(([, same]) => {
    const reason = same[0] ? OMISSION_REASONS[same[0].reason] : "";
    const operations = joinFirst(same.map(withDetail), 3);
    return `${String(same.length).padStart(4)} ${reason}: ${visible(operations)}`;
  });
}

/** What was made, what was not and why, what has to be decided, and what to do next. */
export function showImport({ draft, shown, isDry }: ImportSummary, out: Output): void {
  const { tools, omitted, questions, problems } = draft;
  out.line(`${isDry ? "Would make" : "Made"} ${shown} with ${pluralize(tools.length, "tool")}`);
  for (const [effect, same] of groupedBy(tools, (tool) => tool.effect)) {
    out.line(
      `  ${String(same.length).padStart(4)} ${effect.padEnd(11)}  ${visible(
        joinFirst(
          same.map(({ name }) => name),
          4,
        ),
      )}`,
    );
  }
  const searchable = tools.filter(({ offer }) => offer === "search").length;
  if (searchable > 0) {
    out.line(`  Listed: ${tools.length - searchable}. Found with the search tools (offer: search): ${searchable}.`);
  }
  const reached = draft.file?.upstream.allow ?? [];
  if (reached.length > 0) out.line(visible(`  Requests go to ${joinFirst(reached, SHOWN_ADDRESSES)}`));
  if (omitted.length > 0) {
    out.line("");
    out.line(`${pluralize(omitted.length, "operation")} did not become ${omitted.length === 1 ? "a tool" : "tools"}`);
    for (const line of omissionLines(omitted)) out.line(`  ${line}`);
  }
  if (questions.length > 0) {
    out.line("");
    out.line(`${pluralize(questions.length, "question")} to decide, also under "questions" in the file`);
    for (const { about, ask } of questions.slice(0, SHOWN_QUESTIONS)) out.line(visible(`  ${about}: ${ask}`));
    if (questions.length > SHOWN_QUESTIONS) out.line(`  and ${questions.length - SHOWN_QUESTIONS} more`);
  }
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    out.line("");
    out.advice(
      `The draft has ${pluralize(errors.length, "error")}, which "nexus api check" shows. Correct them first.`,
    );
  }
  if (isDry) return;
  const again = quotePath(shown);
  out.line("");
  out.line("Next");
  if (questions.length > 0) out.advice(`  nexus api questions ${again}  answer the questions`);
  out.advice(`  nexus api check ${again}      look for mistakes and warnings`);
  out.advice(`  nexus api test ${again}       run its checks against a fake of the API`);
  out.advice(`  nexus api show ${again}       see tools, addresses and secrets`);
  out.advice(`  nexus api approve ${again}    approve it; the output says how to serve it`);
}
