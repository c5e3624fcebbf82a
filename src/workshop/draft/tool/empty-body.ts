import type { BodyFacts, ContentFacts } from "../../documents/api-facts.ts";
import type { QuestionList } from "../questions.ts";
import { kindOfMedia } from "./media-type.ts";

/**
 * The contents of a body that can carry something. Some generators write an empty form for each request that has no body:
 * an argument for it would mean nothing to callers. A body that is required is sent, even if it is empty.
 */
export function usedContents(body: BodyFacts, tool: string, questions: QuestionList): readonly ContentFacts[] {
  const { contents, required } = body;
  if (required) return contents;
  const used = contents.filter((content) => emptiness(content) === undefined);
  const doubtful = contents.find((content) => emptiness(content) === "undeclared");
  if (used.length === 0 && doubtful) {
    const ask = "The document describes a form without members: no body is sent. Does it have any?";
    questions.add(ask, `tools.${tool}.request`, doubtful.evidence);
  }
  return used;
}

/**
 * Whether only an empty object is valid: `closed` if the document says so, `undeclared` for a form that has no members in
 * it. Undefined if something can be sent.
 */
function emptiness(content: ContentFacts): "closed" | "undeclared" | undefined {
  if (!content.schema || content.examples.length > 0) return undefined;
  const facts = content.schema;
  const parts = facts.allOf.length + facts.oneOf.length + facts.anyOf.length;
  const isOpen =
    facts.types.some((type) => type !== "object") ||
    facts.properties.size + parts + facts.others.length + facts.examples.length > 0 ||
    facts.enum !== undefined ||
    facts.const !== undefined ||
    (facts.minProperties ?? 0) > 0;
  if (isOpen) return undefined;
  if (facts.additional === "none") return facts.types.length > 0 ? "closed" : undefined;
  const kind = kindOfMedia(content);
  return facts.additional === "undeclared" && (kind === "form" || kind === "multipart") ? "undeclared" : undefined;
}
