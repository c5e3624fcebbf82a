/** An agent: a model that uses the tools of a host, with the consent of its user. */
export { Agent } from "./loop/agent.ts";
export type { AgentOptions, TurnOptions, TurnResult } from "./loop/agent-options.ts";
export type { StepOutcome, StopReason, TurnEvent, TurnStep } from "./loop/turn-event.ts";
export type { ConsentAnswer, ToolConsent, WantedCall } from "./consent/tool-consent.ts";
export { ConsentDesk, type ConsentDeskOptions } from "./consent/consent-desk.ts";
export type { ConsentAsker, ConsentQuestion, ConsentReply } from "./consent/consent-question.ts";
export { RememberedDecisions, type DecisionSubject, type RememberedDecision } from "./consent/remembered-decisions.ts";
export type { ServerProvenance } from "./consent/consent-question.ts";
export type { ShownJson } from "./consent/shown-json.ts";
export { AgentInput, type AgentInputOptions } from "./questions/agent-input.ts";
export { ElicitationDesk } from "./questions/elicitation-desk.ts";
export type { ElicitationHandler, FormQuestion, FormReply, PageQuestion } from "./questions/elicitation-handler.ts";
export type { FormField } from "./questions/form-field.ts";
export type { SamplingLimits } from "./questions/sampling-budget.ts";
export { SamplingDesk, type SamplingDeskOptions } from "./questions/sampling-desk.ts";
export type {
  SamplingAnswer,
  SamplingAsker,
  SamplingEdit,
  SamplingParams,
  SamplingQuestion,
  SamplingReply,
  SamplingReviewer,
  ShownRequest,
} from "./questions/sampling-question.ts";
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
export { Turns } from "../async/turns.ts";
