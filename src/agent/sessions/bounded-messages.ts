import type { ModelMessage, ToolResultPart, UserMessage } from "../model/model-message.ts";

type Media = UserMessage["content"][number];

/** The messages in at most this many characters of JSON: first without images and files, then without the oldest turns. */
export function boundedMessages(messages: readonly ModelMessage[], maxLength: number): readonly ModelMessage[] {
  if (sum(messages.map(lengthOf)) <= maxLength) return messages;
  const small = messages.map(withoutMedia);
  const lengths = small.map(lengthOf);
  let left = sum(lengths);
  // A conversation begins with a person; a result without its call would be refused by providers.
  const start = small.findIndex(({ role }, at) => {
    if (at > 0) left -= lengths[at - 1] ?? 0;
    return role === "user" && left <= maxLength;
  });
  return start === -1 ? [] : small.slice(start);
}

/** With the comma behind it. */
function lengthOf(message: ModelMessage): number {
  return JSON.stringify(message).length + 1;
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total + length, 1);
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
