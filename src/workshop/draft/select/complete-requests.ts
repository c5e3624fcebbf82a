import type { ApiFacts, OmissionReason, OmittedOperation, OperationFacts } from "../../documents/api-facts.ts";
import type { QuestionList } from "../questions.ts";

const MOST_ASKED = 50;
/** Reasons that a person can do something about, because only the description has to be completed. */
const ASKED: ReadonlySet<OmissionReason> = new Set(["uncertain-path", "missing-path-parameter", "unknown-method"]);

/**
 * The operations whose paths are whole. A shorter path is another request: without `#{id}`, `DELETE /parcels/#{id}` deletes
 * all parcels.
 */
export function wholePaths(operations: readonly OperationFacts[]): {
  whole: OperationFacts[];
  cut: OmittedOperation[];
} {
  const whole: OperationFacts[] = [];
  const cut: OmittedOperation[] = [];
  for (const operation of operations) {
    const detail = operation.graphql ? undefined : doubtAbout(operation.path);
    if (detail === undefined) whole.push(operation);
    else cut.push({ key: operation.key, reason: "uncertain-path", detail, evidence: operation.evidence });
  }
  return { whole, cut };
}

/** Why a path may not be the one that is sent. */
function doubtAbout(path: string): string | undefined {
  const [before = ""] = path.split("?", 1);
  if (path.includes("#")) return "# and what follows it is never sent";
  const [sign] = /…|(?<=\/)\.{3}(?=\/|$)/.exec(before) ?? [];
  if (sign !== undefined) return `${sign} stands for something`;
  const [brace] = /[{}]/.exec(before.replaceAll(/\{[^{}]+\}/g, "")) ?? [];
  return brace === undefined ? undefined : `its braces do not match`;
}

/** Asks about requests that would be tools if the description were complete. */
export function askAboutIncomplete({ omitted }: Pick<ApiFacts, "omitted">, questions: QuestionList): void {
  for (const { key, reason, detail, evidence } of omitted
    .filter((each) => ASKED.has(each.reason))
    .slice(0, MOST_ASKED)) {
    const why =
      reason === "unknown-method"
        ? "the document does not say its method"
        : `the document does not say its whole path${detail === undefined ? "" : ` (${detail})`}`;
    questions.add(
      `There is no tool for ${key}: ${why}. What is the request? Add it to the document and import again.`,
      "documents",
      evidence,
    );
  }
}
