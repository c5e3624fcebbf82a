import { isRecord } from "../../json/is-record.ts";
import type { Content, SamplingMessage } from "../../protocol/mcp.ts";
import { visible, visibleJson, visibleLines } from "../../text/visible.ts";
import { invalidSampling } from "./sampling-failure.ts";
import { blocksOf } from "./sampling-messages.ts";
import type { SamplingParams, SamplingQuestion } from "./sampling-question.ts";

/** What a server's request asks the model for, for people: nothing in it is hidden. */
export type ShownSampling = Pick<SamplingQuestion, "system" | "messages" | "tools" | "temperature" | "stopSequences">;

/** Throws INPUT_FAILED if the messages are not valid. */
export function shownSampling({
  systemPrompt,
  messages,
  tools,
  temperature,
  stopSequences,
}: SamplingParams): ShownSampling {
  const named: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const stops: readonly unknown[] = Array.isArray(stopSequences) ? stopSequences : [];
  return {
    system: typeof systemPrompt === "string" ? visibleLines(systemPrompt) : undefined,
    messages: messagesOf(messages).map(shownMessage),
    tools: named.map((tool) => visible(isRecord(tool) ? String(tool["name"]) : "?")),
    temperature: typeof temperature === "number" ? temperature : undefined,
    stopSequences: stops.filter((text) => typeof text === "string").map(visible),
  };
}

function messagesOf(messages: unknown): SamplingMessage[] {
  if (!Array.isArray(messages)) throw invalidSampling("it has no messages");
  return messages as SamplingMessage[];
}

function shownMessage(message: SamplingMessage): { role: string; text: string } {
  return { role: message.role, text: blocksOf(message).map(shownBlock).join("\n") };
}

function shownBlock(block: Content): string {
  const { type, text, data, mimeType, name, input, content, resource, uri } = block;
  if (type === "text" && typeof text === "string") return visibleLines(text);
  if (type === "tool_use") return visible(`[calls ${String(name)}] `) + jsonText(input);
  if (type === "tool_result") {
    const inner = Array.isArray(content) ? content.filter(isRecord).map((each) => shownBlock(each as Content)) : [];
    const { structuredContent: structured } = block;
    if (inner.length === 0 && structured !== undefined) inner.push(jsonText(structured));
    return `[result of a tool] ${inner.join("\n")}`;
  }
  if (type === "resource" && isRecord(resource) && typeof resource.text === "string") {
    return visibleLines(resource.text);
  }
  if (type === "resource_link" && typeof uri === "string") return visible(`[link] ${uri}`);
  const bytes = typeof data === "string" ? `, ${Math.floor((data.length * 3) / 4)} bytes` : "";
  return visible(`[${type}${typeof mimeType === "string" ? ` ${mimeType}` : ""}${bytes}]`);
}

export function jsonText(value: unknown): string {
  return visibleJson(JSON.stringify(value) ?? "");
}
