/** A message of a conversation with a model, independent of the provider. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

export interface UserMessage {
  role: "user";
  content: readonly (TextPart | MediaPart)[];
}

export interface AssistantMessage {
  role: "assistant";
  content: readonly (TextPart | ReasoningPart | ToolCallPart)[];
}

/** The results of the tool calls of the message before, one for each, in their order. */
export interface ToolMessage {
  role: "tool";
  content: readonly ToolResultPart[];
}

export interface TextPart {
  type: "text";
  text: string;
}

/** An image or another file. */
export interface MediaPart {
  type: "media";
  /** In base64. */
  data: string;
  mediaType: string;
}

export interface ReasoningPart {
  type: "reasoning";
  text: string;
  /** What the provider needs to recognise its own reasoning, returned to it unchanged; JSON. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface ToolCallPart {
  type: "tool_call";
  /** The id of the provider, unique in the conversation. */
  id: string;
  name: string;
  /** JSON as the model wrote it; a string if it is not valid JSON. */
  arguments: unknown;
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface ToolResultPart {
  type: "tool_result";
  /** The id of the call. */
  id: string;
  name: string;
  isError: boolean;
  content: readonly (TextPart | MediaPart)[];
}
