import type { AssistantMessage, ModelMessage, ToolCallPart } from "./model-message.ts";

/** A model that continues a conversation and can ask for tools. Implement it to use any other model. */
export interface ModelProvider {
  /** `provider:model`, as people choose it. */
  readonly name: string;
  /** Undefined if they are not known; then costs are not shown. */
  readonly prices?: ModelPrices | undefined;
  /** The most tools of one request; undefined if there is no limit. */
  readonly maxTools?: number | undefined;
  /**
   * Continues the conversation once. The last event is `end`; a failure is thrown as a `NexusError` whose message says
   * what happened and whose hint says what to do. Aborting the signal ends the request at the provider.
   */
  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelEvent>;
}

export interface ModelCallOptions {
  signal?: AbortSignal | undefined;
}

export interface ModelRequest {
  system?: string | undefined;
  messages: readonly ModelMessage[];
  tools?: readonly ModelTool[] | undefined;
  /** Default: `auto`. */
  toolChoice?: "auto" | "none" | "required" | undefined;
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  stopSequences?: readonly string[] | undefined;
}

export interface ModelTool {
  /** At most 64 characters of `[A-Za-z0-9_-]`. */
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

/** What happens while a model answers, in order. */
export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** A complete call. */
  | { type: "tool_call"; call: ToolCallPart }
  /** The provider limits requests, or failed for a moment: it is asked again after this time. */
  | { type: "wait"; ms: number; reason: string }
  /** Something that the user should know, and that does not end the answer. */
  | { type: "notice"; text: string }
  | { type: "end"; stopReason: ModelStopReason; usage: Usage; message: AssistantMessage };

export type ModelStopReason =
  | "end"
  | "tool_calls"
  /** The maximum number of tokens was reached. */
  | "length"
  /** The provider refused the content. */
  | "refused"
  | "other";

/** Tokens of one or several answers. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** US dollars for a million tokens. */
export interface ModelPrices {
  input: number;
  output: number;
}
