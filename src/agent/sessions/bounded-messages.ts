import type { ModelMessage, ToolResultPart, UserMessage } from "../model/model-message.ts";

type Media = UserMessage["content"][number];

/** The messages in at most this many characters of JSON: first without images and files, then without the oldest turns. */
export function boundedMessages(messages: readonly ModelMessage[], maxLength: number): readonly ModelMessage[] {
  if (lengthOf(messages) <= maxLength) return messages;
  let kept: readonly ModelMessage[] = messages.map(withoutMedia);
  while (kept.length > 0 && lengthOf(kept) > maxLength) {
    // A conversation begins with a person; a result without its call would be refused by providers.
    const next = kept.findIndex(({ role }, at) => at > 0 && role === "user");
    kept = next === -1 ? [] : kept.slice(next);
  }
  return kept;
}

function lengthOf(messages: readonly ModelMessage[]): number {
  return JSON.stringify(messages).length;
}

function withoutMedia(message: ModelMessage): ModelMessage {
  switch (message.role) {
    case "user":
      return { ...message, content: message.content.map(named) };
    case "tool":
      return { ...message, content: message.content.map(resultWithoutMedia) };
    case "assistant":
      return message;
  }
}

function resultWithoutMedia(result: ToolResultPart): ToolResultPart {
  return { ...result, content: result.content.map(named) };
}

function named(part: Media): Media {
  return part.type === "media" ? { type: "text", text: `[${part.mediaType}, not saved]` } : part;
}
