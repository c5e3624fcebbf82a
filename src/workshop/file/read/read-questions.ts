import type { Part } from "./part.ts";
import { readEvidence } from "./read-evidence.ts";
import type { QuestionSpec } from "../model/tool-file.ts";

/** Undefined if there are none. */
export function readQuestions(part: Part, documents: readonly string[]): QuestionSpec[] | undefined {
  const questions = part.items().map((item): QuestionSpec => {
    item.members(["about", "ask", "evidence"], ["about", "ask"]);
    return {
      about: item.part("about").text() ?? "",
      ask: item.part("ask").text() ?? "",
      evidence: readEvidence(item.part("evidence"), documents),
    };
  });
  return questions.length === 0 ? undefined : questions;
}
