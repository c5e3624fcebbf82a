import type { Problems } from "../../../format/problem.ts";
import { stepsOf } from "../model/steps-of.ts";
import type { ToolFile } from "../model/tool-file.ts";

/** How many steps of a path have to be written; what is deeper may be a default or in a short form. */
const WRITTEN: Readonly<Record<string, number>> = { types: 4, tools: 2, settings: 2, secrets: 2, documents: 2 };

/** Questions about places that are no longer in the file. */
export function checkQuestions(file: ToolFile, problems: Problems): void {
  for (const [index, { about }] of (file.questions ?? []).entries()) {
    const steps = stepsOf(about);
    const depth = WRITTEN[String(steps[0])] ?? 1;
    // A section that is absent may be what is asked about.
    if (steps.length === 1 && depth > 1) continue;
    if (problems.hasPlace(steps.slice(0, depth))) continue;
    problems.warning(
      ["questions", index, "about"],
      `there is no ${about} in this file`,
      "Correct the place, or answer the question: nexus api questions.",
    );
  }
}
