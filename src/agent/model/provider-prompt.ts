import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { isRecord } from "../../json/is-record.ts";
import { shortName } from "../../text/digest.ts";
import { takenMedia, type MediaTaker } from "./media-support.ts";
import type {
  AssistantMessage,
  MediaPart,
  ModelMessage,
  TextPart,
  ToolMessage,
  ToolResultPart,
} from "./model-message.ts";
import type { ModelRequest } from "./model-provider.ts";
import type { ProviderNames } from "./provider-names.ts";
import type { RefusedTools } from "./refused-tools.ts";

type UserContent = (LanguageModelV3TextPart | LanguageModelV3FilePart)[];
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** What depends on the provider of a request. */
interface ProviderContext {
  taker: MediaTaker;
  names: ProviderNames;
  refused: RefusedTools;
}

/** A request in the form of the provider's package. */
export function providerCall(
  request: ModelRequest,
  { taker, names, refused }: ProviderContext,
): LanguageModelV3CallOptions {
  const { system, messages, toolChoice, maxTokens, temperature, stopSequences } = request;
  // First the tools: the names of their properties are those of the arguments in messages.
  const tools = refused.accepted(request.tools ?? []).map((tool) => refused.definitionOf(tool, names));
  const prompt: LanguageModelV3Message[] = messages.flatMap((message) => converted(message, taker, names));
  if (system !== undefined && system !== "") prompt.unshift({ role: "system", content: system });
  return {
    prompt,
    ...(tools.length > 0 && {
      tools,
      toolChoice: { type: toolChoice ?? "auto" },
    }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stopSequences: [...stopSequences] }),
  };
}

function converted(message: ModelMessage, taker: MediaTaker, names: ProviderNames): LanguageModelV3Message[] {
  if (message.role === "tool") return toolMessages(message, taker, names);
  if (message.role === "assistant") {
    const content = assistantContent(message, taker, names);
    return content.length === 0 ? [] : [{ role: "assistant", content }];
  }
  const content = userContent(message.content, taker);
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** Providers refuse empty text. */
function userContent(parts: readonly (TextPart | MediaPart)[], taker: MediaTaker): UserContent {
  return parts
    .map((part) => (part.type === "media" ? takenMedia(part, taker) : part))
    .filter((part) => part.type === "media" || part.text !== "")
    .map((part) => (part.type === "media" ? filePart(part) : { type: "text", text: part.text }));
}

function filePart({ data, mediaType }: MediaPart): LanguageModelV3FilePart {
  return { type: "file", data, mediaType };
}

function assistantContent({ content }: AssistantMessage, taker: MediaTaker, names: ProviderNames): AssistantContent {
  const parts: AssistantContent = [];
  for (const part of content) {
    if (part.type === "text") {
      if (part.text !== "") parts.push({ type: "text", text: part.text });
    } else if (part.type === "reasoning") {
      parts.push({ type: "reasoning", text: part.text, ...optionsOf(part.metadata) });
    } else {
      const [toolCallId, toolName] = [callId(part.id, taker), names.tools.toSafe(part.name)];
      parts.push({
        type: "tool-call",
        toolCallId,
        toolName,
        input: names.properties.keysToSafe(objectOf(part.arguments)),
        ...optionsOf(part.metadata),
      });
    }
  }
  return parts;
}

/** Providers accept only objects, also for arguments that were not valid JSON. */
function objectOf(given: unknown): Record<string, unknown> {
  return isRecord(given) ? given : { invalid_arguments: given ?? null };
}

/** The metadata is what the same package wrote, returned unchanged. */
function optionsOf(metadata: Readonly<Record<string, unknown>> | undefined): {
  providerOptions?: SharedV3ProviderOptions;
} {
  return metadata ? { providerOptions: metadata as SharedV3ProviderOptions } : {};
}

/** Media that cannot be part of a result follow as a message of the user that says where they come from. */
function toolMessages({ content }: ToolMessage, taker: MediaTaker, names: ProviderNames): LanguageModelV3Message[] {
  const after: UserContent = [];
  const results = content.map((part): LanguageModelV3ToolResultPart => {
    const { output, apart } = toolOutput(part, taker);
    if (apart.length > 0) after.push({ type: "text", text: `From the result of the tool ${part.name}:` });
    after.push(...apart.map(filePart));
    return {
      type: "tool-result",
      toolCallId: callId(part.id, taker),
      toolName: names.tools.toSafe(part.name),
      output,
    };
  });
  if (results.length === 0) return [];
  const message: LanguageModelV3Message = { role: "tool", content: results };
  return after.length === 0 ? [message] : [message, { role: "user", content: after }];
}

interface ToolOutput {
  output: LanguageModelV3ToolResultPart["output"];
  /** Media that the result cannot contain. */
  apart: MediaPart[];
}

function toolOutput({ content, isError }: ToolResultPart, taker: MediaTaker): ToolOutput {
  const parts = content.map((part) => (part.type === "media" ? takenMedia(part, taker) : part));
  const media = parts.filter((part) => part.type === "media");
  const texts = parts.filter((part) => part.type === "text" && part.text !== "").map((part) => (part as TextPart).text);
  if (taker.type === "anthropic" && !isError && media.length > 0) {
    const value = parts.filter((part) => part.type === "media" || part.text !== "").map(resultPart);
    return { output: { type: "content", value }, apart: [] };
  }
  if (media.length > 0) texts.push("[Its images and files follow in the next message.]");
  const text = texts.length === 0 ? "(no content)" : texts.join("\n");
  if (!isError) return { output: { type: "text", value: text }, apart: media };
  // Only Anthropic's protocol marks errors.
  const said = taker.type === "anthropic" ? text : `Error: ${text}`;
  return { output: { type: "error-text", value: said }, apart: media };
}

type ResultPart = Extract<LanguageModelV3ToolResultPart["output"], { type: "content" }>["value"][number];

function resultPart(part: TextPart | MediaPart): ResultPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { data, mediaType } = part;
  return { type: mediaType.startsWith("image/") ? "image-data" : "file-data", data, mediaType };
}

/** Ids of calls come from any provider, because the model of a conversation can be changed. */
function callId(id: string, { type }: MediaTaker): string {
  const isAccepted = type === "anthropic" ? /^[A-Za-z0-9_-]+$/.test(id) : type !== "openai" || id.length <= 40;
  return isAccepted ? id : `call_${shortName(id)}`;
}
