import type { ToolCallPart, ToolResultPart } from "../model/model-message.ts";

/** The result of a call that did not come to an end. */
export function cancelledResult({ id, name }: ToolCallPart): ToolResultPart {
  const text = "The call was cancelled before it had a result. It may have had an effect.";
  return { type: "tool_result", id, name, isError: true, content: [{ type: "text", text }] };
}
