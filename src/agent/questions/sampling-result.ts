import type { Content, CreateMessageResult } from "../../protocol/mcp.ts";
import type { ToolCallPart } from "../model/model-message.ts";
import type { ModelStopReason } from "../model/model-provider.ts";
import type { SamplingTools } from "./sampling-tools.ts";

const STOP_REASONS: Record<ModelStopReason, string> = {
  end: "endTurn",
  tool_calls: "toolUse",
  length: "maxTokens",
  refused: "refusal",
  other: "other",
};

export interface SampledAnswer {
  model: string;
  stopReason: ModelStopReason;
  text: string;
  toolCalls: readonly ToolCallPart[];
}

/** A list only if the model asks for tools, which no revision before 2025-11-25 offers to it. */
export function samplingResult(answer: SampledAnswer, tools: SamplingTools): CreateMessageResult {
  const { model, stopReason, text, toolCalls } = answer;
  const calls = toolCalls.map(({ id, name, arguments: input }): Content => {
    return { type: "tool_use", id, name: tools.ownName(name), input };
  });
  const texts: Content[] = text === "" && calls.length > 0 ? [] : [{ type: "text", text }];
  const [only] = texts;
  const content = calls.length === 0 && only ? only : [...texts, ...calls];
  return { role: "assistant", model, content, stopReason: STOP_REASONS[stopReason] };
}
