import { isRecord } from "../../json/is-record.ts";
import type { Problem } from "../../format/problem.ts";
import type { QuestionList } from "./questions.ts";
import type { DraftedTool } from "./tool/draft-tool.ts";
import type { TypeDrafter } from "./types/type-drafter.ts";

interface Leaving {
  drafted: readonly DraftedTool[];
  types: TypeDrafter;
  questions: QuestionList;
}

/**
 * Leaves out single parts that a tool file cannot have, such as a member with a name that XML does not allow, and asks
 * about each: an odd part must not cost its tool. Returns whether there were any.
 */
export function leaveOutParts(errors: readonly Problem[], leaving: Leaving): boolean {
  let found = false;
  for (const error of errors) found = leaveOut(error, leaving) || found;
  return found;
}

function leaveOut({ path, message }: Problem, { drafted, types, questions }: Leaving): boolean {
  const [section, name = "", ...rest] = path.split(".");
  if (section === "types" && rest[0] === "fields") {
    const type = types.types.get(name);
    const field = type?.fields.get(rest[1] ?? "");
    if (!type || !field) return false;
    type.fields.delete(rest[1] ?? "");
    const shown = typeof field.wire === "string" ? field.wire : rest[1];
    questions.add(leftOut(`The member "${shown}"`, message), `types.${name}`, field.evidence[0]);
    return true;
  }
  const tool = drafted.find((each) => each.name === (section === "fake" ? rest[0] : name));
  if (!tool) return false;
  if (section === "fake") return leaveOutAnswer(tool, message, questions);
  if (section !== "tools") return false;
  const { request } = tool.tool;
  if (rest[0] === "checks" && tool.tool["checks"] !== undefined) {
    delete tool.tool["checks"];
    questions.add(leftOut("The example of the request", message), `tools.${name}`, tool.evidence);
    return true;
  }
  const entries = rest[0] === "request" && isRecord(request) ? request[rest[1] ?? ""] : undefined;
  if (!isRecord(entries) || !["query", "headers", "cookies"].includes(rest[1] ?? "")) return false;
  // The name of a parameter may have dots itself.
  const at = rest.slice(2).join(".");
  const entry = Object.keys(entries).find((key) => at === key || at.startsWith(`${key}.`));
  if (entry === undefined) return false;
  delete entries[entry];
  questions.add(leftOut(`The parameter "${entry}"`, message), `tools.${name}.request`, tool.evidence);
  return true;
}

function leaveOutAnswer(tool: DraftedTool, message: string, questions: QuestionList): boolean {
  if (!tool.fake) return false;
  delete tool.fake;
  questions.add(leftOut("The example of the answer", message), `tools.${tool.name}`, tool.evidence);
  return true;
}

function leftOut(what: string, message: string): string {
  return `${what} was left out, because a tool cannot have it: ${message}.`;
}
