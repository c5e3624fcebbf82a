/** An agent: a model that uses the tools of a host, with the consent of its user. */
export { Agent } from "./loop/agent.ts";
export type { AgentOptions, TurnOptions, TurnResult } from "./loop/agent-options.ts";
export type { StepOutcome, StopReason, TurnEvent, TurnStep } from "./loop/turn-event.ts";
export type { ConsentAnswer, ToolConsent, WantedCall } from "./consent/tool-consent.ts";
export { ConsentDesk, type ConsentDeskOptions } from "./consent/consent-desk.ts";
export type { ConsentAsker, ConsentQuestion, ConsentReply } from "./consent/consent-question.ts";
export type {
  AssistantMessage,
  MediaPart,
  ModelMessage,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from "./model/model-message.ts";
export type {
  ModelCallOptions,
  ModelEvent,
  ModelPrices,
  ModelProvider,
  ModelRequest,
  ModelStopReason,
  ModelTool,
  Usage,
} from "./model/model-provider.ts";
export { addUsage, costOf, totalTokens } from "./model/usage.ts";
export { openModel, type OpenModelOptions } from "./open-model.ts";
