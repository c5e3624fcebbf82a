import type { AssistantMessage, ToolCallPart } from "./model-message.ts";

/** The text of an answer, without reasoning. */
export function answerText({ content }: AssistantMessage): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

export function answerCalls({ content }: AssistantMessage): ToolCallPart[] {
  return content.filter((part) => part.type === "tool_call");
}
