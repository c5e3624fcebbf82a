import type { CreateMessageRequest, SamplingMessage } from "../../protocol/mcp.ts";
import type { Usage } from "../model/model-provider.ts";

/** The parameters of a sampling request after they were checked. */
export type SamplingParams = CreateMessageRequest["params"];

/** A request as text for people: invisible characters are escaped. */
export interface ShownRequest {
  /** Long parts are shortened in the middle, with the number of omitted characters. */
  text: string;
  isShortened: boolean;
  /** Everything, for people who want to read it. */
  whole: string;
}

/** A question to a person: may this server use the model for this? Texts of the server are safe to show. */
export interface SamplingQuestion {
  server: string;
  /** The chosen model: `provider:model`. */
  model: string;
  system: string | undefined;
  messages: readonly { role: string; text: string }[];
  /** Names of the server's tools that the model could ask for. The server runs them, not this program. */
  tools: readonly string[];
  /** After the limits of this program were applied. */
  maxTokens: number;
  temperature: number | undefined;
  stopSequences: readonly string[];
  /** All texts that the model gets, with the definitions of the tools. */
  request: ShownRequest;
  /** What is left for this server in this session, before this request. */
  left: { requests: number; tokens: number };
  /** As the server sent it, for editing. */
  params: SamplingParams;
}

/** The parts of a request that a person can change. */
export interface SamplingEdit {
  systemPrompt?: string | undefined;
  messages?: SamplingMessage[] | undefined;
  maxTokens?: number | undefined;
}

/**
 * `session`: also the further requests of this server, until the program ends. `review`: the answer to this request is
 * shown before it is sent.
 */
export type SamplingReply =
  | { kind: "once" | "session"; edit?: SamplingEdit | undefined; review?: boolean | undefined }
  | { kind: "decline" };

/** Asks a person. Aborting the signal ends the question; throwing declines the request. */
export type SamplingAsker = (question: SamplingQuestion, signal: AbortSignal) => Promise<SamplingReply>;

/** The answer of the model before it is sent to the server. */
export interface SamplingAnswer {
  server: string;
  model: string;
  /** Safe to show. */
  text: string;
  /** The calls of the server's tools that the model asks for; safe to show. */
  toolCalls: readonly { name: string; arguments: string }[];
  usage: Usage;
}

/** Shows an answer to a person. `text` replaces the text of the answer. */
export type SamplingReviewer = (
  answer: SamplingAnswer,
  signal: AbortSignal,
) => Promise<{ kind: "send"; text?: string | undefined } | { kind: "decline" }>;
