import type { ModelMessage } from "../model/model-message.ts";
import type { ModelTool } from "../model/model-provider.ts";
import { textOfMedia } from "./text-media.ts";

interface SizedRequest {
  system: string | undefined;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
}

/** About how many tokens a request has, in hundreds: enough to stop one that is too large before it is paid for. */
export function estimatedTokens({ system = "", messages, tools }: SizedRequest): number {
  const parts = messages.flatMap(({ content }): readonly Part[] => content);
  const characters = parts.reduce((sum, part) => sum + lengthOf(part), system.length + JSON.stringify(tools).length);
  return Math.floor(characters / 400) * 100;
}

type Part = ModelMessage["content"][number];

function lengthOf(part: Part): number {
  // Images cost far less than their characters.
  if (part.type === "media") return textOfMedia(part)?.length ?? 0;
  if (part.type === "tool_result") return part.content.reduce((sum, each) => sum + lengthOf(each), 0);
  return JSON.stringify(part).length;
}
