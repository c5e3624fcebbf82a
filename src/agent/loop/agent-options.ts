import { type OptionNames, SIGNAL } from "../../errors/check-options.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import type { ToolConsent } from "../consent/tool-consent.ts";
import type { ModelMessage } from "../model/model-message.ts";
import type { ModelProvider, Usage } from "../model/model-provider.ts";
import type { StopReason, TurnEvent, TurnStep } from "./turn-event.ts";

export interface AgentOptions {
  host: Host;
  model: ModelProvider;
  /** Decides which calls may be made; default: those of tools that are annotated as read-only. */
  consent?: ToolConsent | undefined;
  /**
   * Answers the questions of servers during calls; default: a call that needs an answer fails. Open the host with the same
   * `input`: servers may list tools that ask only for clients that can answer.
   */
  input?: InputProvider | undefined;
  /** The name of this agent: servers can be limited to some agents. */
  name?: string | undefined;
  /** Instructions of the program for the model. */
  system?: string | undefined;
  /** The conversation so far, for example of a saved session. */
  messages?: readonly ModelMessage[] | undefined;
  /** Maximum number of answers with tool calls in one turn; default: 50. */
  maxSteps?: number | undefined;
  /** Maximum number of input and output tokens of one turn together; default: no limit. */
  budget?: number | undefined;
  /** With more tools than this the model gets tools to search, describe and call them; default: 60. */
  searchAbove?: number | undefined;
  /** Characters of one result that the model gets; the rest can be read with a link. Default: 32,000. */
  maxResult?: number | undefined;
  /** Loads resources with a high priority as context; default: none. */
  context?: { budget: number; minPriority?: number | undefined } | undefined;
}

export const AGENT_OPTIONS: OptionNames<AgentOptions> = {
  host: true,
  model: true,
  consent: true,
  input: true,
  name: true,
  system: true,
  messages: true,
  maxSteps: true,
  budget: true,
  searchAbove: true,
  maxResult: true,
  context: true,
};

export interface TurnOptions {
  /** Stops the turn: the request at the provider and all pending calls at their servers. */
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
}

export const TURN_OPTIONS: OptionNames<TurnOptions> = {
  signal: SIGNAL,
  onEvent: true,
};

/** What a turn did. */
export interface TurnResult {
  /** The text of the last answer. */
  text: string;
  steps: readonly TurnStep[];
  usage: Usage;
  stopReason: StopReason;
  /** Only with the stop reason `error`. What was done before is in the conversation. */
  error?: NexusError | undefined;
  /** The turn ended before any answer and any tool call: the message of the user is no longer in the conversation. */
  isTakenBack?: boolean | undefined;
}
