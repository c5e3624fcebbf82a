import type { QuestionChoice, QuestionSpec } from "./model/tool-file.ts";
import { present, type Part } from "../../format/part.ts";
import { readEvidence } from "./read/read-evidence.ts";

/** Undefined if there are none. */
export function readQuestions(part: Part, documents: readonly string[]): QuestionSpec[] | undefined {
  const questions = part.items().map((item): QuestionSpec => {
    item.members(["about", "ask", "evidence", "choices"], ["about", "ask"]);
    const choices = item.part("choices").items().map(readChoice);
    return present({
      about: item.part("about").text() ?? "",
      ask: item.part("ask").text() ?? "",
      evidence: readEvidence(item.part("evidence"), documents),
      choices: choices.length === 0 ? undefined : choices,
    });
  });
  return questions.length === 0 ? undefined : questions;
}

function readChoice(item: Part): QuestionChoice {
  item.members(["answer", "set", "default"], ["answer"]);
  const set = item
    .part("set")
    .items()
    .map((each) => {
      each.members(["path", "value"], ["path", "value"]);
      return { path: each.part("path").text() ?? "", value: each.part("value").value() };
    });
  return present({ answer: item.part("answer").text() ?? "", set, default: item.part("default").boolean() });
}
