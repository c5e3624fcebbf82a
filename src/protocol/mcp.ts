import type { Params, RequestId, Result } from "./json-rpc.ts";

/**
 * The members of MCP that this code reads, for all five revisions. All types are open: further members reach the caller
 * unchanged.
 */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
  [member: string]: unknown;
}

export interface ClientCapabilities {
  elicitation?: { form?: { applyDefaults?: boolean }; url?: Record<string, unknown>; applyDefaults?: boolean };
  sampling?: { tools?: Record<string, unknown>; context?: Record<string, unknown> };
  roots?: { listChanged?: boolean };
  extensions?: Record<string, unknown>;
  experimental?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface ServerCapabilities {
  tools?: { listChanged?: boolean };
  resources?: { listChanged?: boolean; subscribe?: boolean };
  prompts?: { listChanged?: boolean };
  completions?: Record<string, unknown>;
  logging?: Record<string, unknown>;
  extensions?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
  [member: string]: unknown;
}

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
  annotations?: ToolAnnotations;
  icons?: Record<string, unknown>[];
  _meta?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface Resource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  [member: string]: unknown;
}

export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: { name: string; title?: string; description?: string; required?: boolean; [member: string]: unknown }[];
  [member: string]: unknown;
}

/** One block of content. Unknown kinds are passed on unchanged. */
export interface Content {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  resource?: ResourceContents;
  annotations?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  [member: string]: unknown;
}

/** `T` is the type of the tool's output schema. */
export interface CallToolResult<T = Record<string, unknown>> extends Result {
  content: Content[];
  structuredContent?: T;
  isError?: boolean;
}

export interface ReadResourceResult extends Result {
  contents: ResourceContents[];
}

export interface GetPromptResult extends Result {
  description?: string;
  messages: { role: string; content: Content }[];
}

export interface CompleteResult extends Result {
  completion: { values: string[]; total?: number; hasMore?: boolean };
}

export type CompletionReference = { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };

export interface Root {
  uri: string;
  name?: string;
  [member: string]: unknown;
}

export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a message of this level is for those who want `lowest` and above. One of a level that is not known is. */
export function isLoudEnough(level: unknown, lowest: LogLevel): boolean {
  const rank = LOG_LEVELS.indexOf(level as LogLevel);
  return rank === -1 || rank >= LOG_LEVELS.indexOf(lowest);
}

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
  [member: string]: unknown;
}

/** A question of the server: method and params of any kind. */
export interface Question {
  method: string;
  params?: Params;
}

/** A question of a server for the user or the user's model during a call. */
export type InputRequest = ElicitRequest | CreateMessageRequest | ListRootsRequest;

/** The answer to a question. */
export type InputResult = ElicitResult | CreateMessageResult | ListRootsResult;

/** A form to fill in, or a page to open. Before 2025-11-25 there are only forms, without `mode`. */
export interface ElicitRequest {
  method: "elicitation/create";
  params: ElicitFormParams | ElicitUrlParams;
}

export interface ElicitFormParams {
  mode?: "form";
  message: string;
  requestedSchema: {
    type: "object";
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

export interface ElicitUrlParams {
  mode: "url";
  message: string;
  url: string;
  [member: string]: unknown;
}

export interface ElicitResult {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

/** A completion by the user's model. */
export interface CreateMessageRequest {
  method: "sampling/createMessage";
  params: {
    messages: SamplingMessage[];
    maxTokens: number;
    systemPrompt?: string;
    temperature?: number;
    stopSequences?: string[];
    modelPreferences?: Record<string, unknown>;
    tools?: Tool[];
    toolChoice?: Record<string, unknown>;
    [member: string]: unknown;
  };
}

export interface SamplingMessage {
  role: "user" | "assistant";
  /** A list from 2025-11-25 on. */
  content: Content | Content[];
  [member: string]: unknown;
}

export interface CreateMessageResult {
  role: "user" | "assistant";
  content: Content | Content[];
  model: string;
  stopReason?: string;
  _meta?: Record<string, unknown>;
}

export interface ListRootsRequest {
  method: "roots/list";
  params?: Params;
}

export interface ListRootsResult {
  roots: readonly Root[];
  _meta?: Record<string, unknown>;
}

/** A modern server's request for input: the call is sent again with the answers. */
export interface InputRequiredResult extends Result {
  resultType: "input_required";
  inputRequests?: Record<string, Question>;
  requestState?: string;
}

export interface InitializeResult extends Result {
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  instructions?: string;
}

export interface DiscoverResult extends Result {
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  instructions?: string;
}

export type ProgressToken = RequestId;
