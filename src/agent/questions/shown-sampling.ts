import { isRecord } from "../../json/is-record.ts";
import type { Content, SamplingMessage } from "../../protocol/mcp.ts";
import { visible, visibleJson, visibleLines } from "../../text/visible.ts";
import { blocksOf } from "./sampling-messages.ts";

/** A message of a sampling request for people: nothing in it is hidden. */
export function shownMessage(message: SamplingMessage): { role: string; text: string } {
  return { role: message.role, text: blocksOf(message).map(shownBlock).join("\n") };
}

function shownBlock(block: Content): string {
  const { type, text, data, mimeType, name, input, content, resource } = block;
  if (type === "text" && typeof text === "string") return visibleLines(text);
  if (type === "tool_use") return visible(`[calls ${String(name)}] `) + jsonText(input);
  if (type === "tool_result") {
    const inner = Array.isArray(content) ? content.filter(isRecord).map((each) => shownBlock(each as Content)) : [];
    return `[result of a tool] ${inner.join("\n")}`;
  }
  if (type === "resource" && isRecord(resource) && typeof resource.text === "string") {
    return visibleLines(resource.text);
  }
  const bytes = typeof data === "string" ? `, ${Math.floor((data.length * 3) / 4)} bytes` : "";
  return visible(`[${type}${typeof mimeType === "string" ? ` ${mimeType}` : ""}${bytes}]`);
}

export function jsonText(value: unknown): string {
  return visibleJson(JSON.stringify(value) ?? "");
}
