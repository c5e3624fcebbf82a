import { InputDesk } from "../../client/conversation/input.ts";
import type { ClientCapabilities, Question } from "../../protocol/mcp.ts";
import { declaring } from "./upstream-reports.ts";

const NEEDED: Record<string, (question: Question) => ClientCapabilities> = {
  "elicitation/create": ({ params }) => ({ elicitation: params?.["mode"] === "url" ? { url: {} } : { form: {} } }),
  "sampling/createMessage": ({ params }) => ({ sampling: params?.["tools"] === undefined ? {} : { tools: {} } }),
  "roots/list": () => ({ roots: {} }),
};

/** What would have to be declared so that all of this may be asked; undefined where it is. */
export function undeclared(
  questions: Record<string, Question>,
  capabilities: ClientCapabilities,
): ClientCapabilities | undefined {
  const desk = new InputDesk("", declaring(capabilities), undefined);
  const lacking = Object.values(questions).filter((question) => !desk.declares(question));
  if (lacking.length === 0) return undefined;
  return Object.assign(
    {},
    ...lacking.map((question) => NEEDED[question.method]?.(question) ?? {}),
  ) as ClientCapabilities;
}
