import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { ConsentDesk } from "../consent/consent-desk.ts";
import type { ModelMessage, UserMessage } from "../model/model-message.ts";
import type { ModelProvider, Usage } from "../model/model-provider.ts";
import { addUsage, NO_USAGE } from "../model/usage.ts";
import { contextParts } from "../tools/context-parts.ts";
import { KeptResults } from "../tools/kept-results.ts";
import { LiveTools } from "../tools/live-tools.ts";
import type { AgentOptions, TurnOptions, TurnResult } from "./agent-options.ts";
import { ConversationHistory } from "./conversation-history.ts";
import { ToolRunner } from "./tool-runner.ts";
import type { TurnEvent } from "./turn-event.ts";
import { Turn } from "./turn.ts";

const MAX_STEPS = 50;
const SEARCH_ABOVE = 60;
const MAX_RESULT = 32_000;

/** A conversation between a user, a model and the tools of a host. It has one turn at a time. */
export class Agent {
  /** Can be changed between turns, and during one for its next request. */
  model: ModelProvider;
  readonly #options: AgentOptions;
  readonly #history: ConversationHistory;
  readonly #tools: LiveTools;
  readonly #runner: ToolRunner;
  #usage = NO_USAGE;
  #isBusy = false;
  /** For the first turn. */
  #notice: string | undefined;

  /** Throws ARGUMENTS_INVALID without a host or a model. */
  constructor(options: AgentOptions) {
    requireParts(options);
    const { host, model, name: agent, searchAbove = SEARCH_ABOVE, maxResult = MAX_RESULT } = options;
    const { consent = new ConsentDesk(), input } = options;
    this.model = model;
    this.#options = options;
    this.#history = new ConversationHistory(options.messages ?? []);
    const results = new KeptResults(maxResult, this.messages);
    const maxTools = () => this.model.maxTools ?? Infinity;
    this.#tools = new LiveTools({ host, agent, searchAbove, maxTools, results });
    this.#runner = new ToolRunner({ host, tools: this.#tools, results, consent, input, agent });
    this.#notice = input && undeclared(input.capabilities, host.capabilities);
  }

  /** The conversation so far. At the end of a turn every provider accepts it. */
  get messages(): readonly ModelMessage[] {
    return this.#history.messages;
  }

  /** Of all turns of this agent. */
  get usage(): Usage {
    return this.#usage;
  }

  /**
   * Sends a message of the user, and runs until the model has answered without tool calls, or something stops the turn.
   * Failures are in the result, so that what was done is not lost; rejects only if a turn is running.
   */
  async send(content: string | UserMessage["content"], options: TurnOptions = {}): Promise<TurnResult> {
    if (this.#isBusy) {
      throw new NexusError("BUSY", "The agent is in a turn", { hint: "Wait for its end, or abort its signal." });
    }
    this.#isBusy = true;
    try {
      const { signal = new AbortController().signal, onEvent } = options;
      const parts: UserMessage["content"] = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const takeBack = await this.#addUser(parts, signal);
      const result = await this.#turn(signal, onEvent).run();
      this.#usage = addUsage(this.#usage, result.usage);
      // Otherwise it would be sent again with the next message, and what was refused would be refused for ever.
      return result.stopReason !== "end" && takeBack() ? { ...result, isTakenBack: true } : result;
    } finally {
      this.#isBusy = false;
    }
  }

  async #addUser(content: UserMessage["content"], signal: AbortSignal): Promise<() => boolean> {
    const { context, host, name: agent } = this.#options;
    const parts =
      context && !signal.aborted ? await contextParts(host, { ...context, agent, signal }, this.messages) : [];
    return this.#history.addUser([...parts, ...content]);
  }

  #turn(signal: AbortSignal, given: TurnOptions["onEvent"]): Turn {
    const { system, maxSteps = MAX_STEPS, budget = Infinity } = this.#options;
    const onEvent = (event: TurnEvent) => {
      try {
        given?.(event);
      } catch {
        // A program that fails to show an event must not lose what the turn does.
      }
    };
    if (this.#notice !== undefined) onEvent({ type: "notice", text: this.#notice });
    this.#notice = undefined;
    return new Turn({
      model: () => this.model,
      history: this.#history,
      tools: this.#tools,
      runner: this.#runner,
      system,
      maxSteps,
      budget,
      signal,
      onEvent,
    });
  }
}

/** The host reads the lists of tools, so what only the agent declares does not change them. Undefined if nothing is missing. */
function undeclared(wanted: ClientCapabilities, declared: ClientCapabilities): string | undefined {
  const missing = (["sampling", "elicitation"] as const).filter((name) => wanted[name] && !declared[name]);
  if (missing.length === 0) return undefined;
  return (
    `The host was opened without ${missing.join(" and ")}, so servers may not list tools that need it. ` +
    `Pass the same "input" to Host.open() and to new Agent().`
  );
}

/** In JavaScript nothing else tells that one is missing, or that `await` is, before the first message. */
function requireParts(options: { [part in "host" | "model"]?: unknown } | undefined): void {
  const parts = [
    { part: "host", method: "callTool", hint: "Pass the result of: await Host.open({ servers })" },
    { part: "model", method: "stream", hint: `Pass the result of: await openModel("provider:model")` },
  ] as const;
  for (const { part, method, hint } of parts) {
    const given = options?.[part];
    if (isRecord(given) && typeof given[method] === "function") continue;
    const what = given instanceof Promise ? "is a promise" : given === undefined ? "is missing" : "is not valid";
    throw new NexusError("ARGUMENTS_INVALID", `The option "${part}" of new Agent() ${what}`, {
      hint,
      mayHaveReached: false,
    });
  }
}
