import { isRecord } from "../../json/is-record.ts";
import type { Content, SamplingMessage } from "../../protocol/mcp.ts";
import type {
  AssistantMessage,
  MediaPart,
  ModelMessage,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../model/model-message.ts";
import { invalidSampling } from "./sampling-failure.ts";
import type { SamplingTools } from "./sampling-tools.ts";

const MAX_MESSAGES = 1_000;
/** Of all messages together. */
const MAX_BLOCKS = 2_000;

/**
 * The messages of a sampling request for a model. Every tool call must be followed by its result, as the specification
 * and all providers require. Throws INPUT_FAILED otherwise.
 */
export function samplingMessages(messages: unknown, tools: SamplingTools): ModelMessage[] {
  if (!Array.isArray(messages) || messages.length === 0) throw invalidSampling("it has no messages");
  if (messages.length > MAX_MESSAGES) throw invalidSampling(`it has more than ${MAX_MESSAGES} messages`);
  const converted: ModelMessage[] = [];
  let open: readonly ToolCallPart[] = [];
  let count = 0;
  for (const message of messages) {
    const blocks = blocksOf(message);
    count += blocks.length;
    if (count > MAX_BLOCKS) throw invalidSampling(`its messages have more than ${MAX_BLOCKS} parts`);
    const isFromUser = (message as SamplingMessage).role === "user";
    const results = isFromUser ? blocks.filter(({ type }) => type === "tool_result") : [];
    requireResults(open, results, blocks);
    if (results.length > 0) {
      const names = new Map(open.map(({ id, name }) => [id, name]));
      const content = open.map(({ id }) =>
        toResult(
          results.find((each) => each["toolUseId"] === id),
          names,
        ),
      );
      converted.push({ role: "tool", content });
      open = [];
      continue;
    }
    if (isFromUser) {
      converted.push({ role: "user", content: blocks.map(toPart) });
      continue;
    }
    const content = blocks.map((block) => toAssistantPart(block, tools));
    open = content.filter((part) => part.type === "tool_call");
    converted.push({ role: "assistant", content });
  }
  if (open.length > 0) throw invalidSampling("the last message asks for tools, and their results are missing");
  return converted;
}

/** The content of a message as a list. Before 2025-11-25 it is one block. */
export function blocksOf(message: unknown): Content[] {
  const { role, content } = isRecord(message) ? message : {};
  if (role !== "user" && role !== "assistant") throw invalidSampling(`a message has the role ${JSON.stringify(role)}`);
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  if (blocks.every(isBlock)) return blocks;
  throw invalidSampling("a message has no content");
}

function isBlock(value: unknown): value is Content {
  return isRecord(value) && typeof value["type"] === "string";
}

function requireResults(open: readonly ToolCallPart[], results: readonly Content[], blocks: readonly Content[]): void {
  if (results.length > 0 && results.length < blocks.length) {
    throw invalidSampling("a message mixes results of tools with other content");
  }
  const ids = new Set(results.map((result) => result["toolUseId"]));
  const isComplete = ids.size === results.length && ids.size === open.length && open.every(({ id }) => ids.has(id));
  if (!isComplete) throw invalidSampling("the results of tools do not match the calls in the message before");
}

function toPart(block: Content): TextPart | MediaPart {
  const { type, text, data, mimeType, uri, resource } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string") {
    return { type: "media", data, mediaType: mimeType };
  }
  if (type === "resource" && isRecord(resource) && typeof resource.text === "string") {
    return { type: "text", text: resource.text };
  }
  if (type === "resource" && isRecord(resource) && typeof resource.blob === "string") {
    return { type: "media", data: resource.blob, mediaType: resource.mimeType ?? "application/octet-stream" };
  }
  if (type === "resource_link" && typeof uri === "string") return { type: "text", text: uri };
  throw invalidSampling(`content of the kind ${JSON.stringify(type)} cannot be given to a model`);
}

function toAssistantPart(block: Content, tools: SamplingTools): AssistantMessage["content"][number] {
  const { type, id, name, input } = block;
  if (type === "tool_use" && typeof id === "string" && typeof name === "string") {
    return { type: "tool_call", id, name: tools.safeName(name), arguments: input ?? {} };
  }
  const part = toPart(block);
  // Models write no images: one that a server says a model wrote is described.
  return part.type === "text" ? part : { type: "text", text: `[${part.mediaType}]` };
}

function toResult(block: Content | undefined, names: ReadonlyMap<string, string>): ToolResultPart {
  const id = String(block?.["toolUseId"]);
  const given: unknown = block?.["content"] ?? [];
  const content = Array.isArray(given) ? given.filter(isBlock).map(toPart) : [];
  const structured = block?.["structuredContent"];
  if (content.length === 0 && structured !== undefined) {
    content.push({ type: "text", text: JSON.stringify(structured) });
  }
  return { type: "tool_result", id, name: names.get(id) ?? "tool", isError: block?.["isError"] === true, content };
}
