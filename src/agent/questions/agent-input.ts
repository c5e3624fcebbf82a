import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import type { InputContext, InputProvider } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities, InputRequest, InputResult } from "../../protocol/mcp.ts";
import type { ElicitationDesk } from "./elicitation-desk.ts";
import type { SamplingDesk } from "./sampling-desk.ts";

export interface AgentInputOptions {
  /** Answers requests for completions; undefined: not declared. */
  sampling?: SamplingDesk | undefined;
  /** Answers forms and pages; undefined: not declared. */
  elicitation?: ElicitationDesk | undefined;
}

const OPTIONS: OptionNames<AgentInputOptions> = {
  sampling: true,
  elicitation: true,
};

/** Answers the questions that servers ask an agent during its calls. Declares only what can be answered. */
export class AgentInput implements InputProvider {
  readonly capabilities: ClientCapabilities;
  readonly #options: AgentInputOptions;
  /** By server. */
  readonly #wrongReplies = new Map<string, NexusError>();

  constructor(options: AgentInputOptions) {
    checkOptions("AgentInput", options, OPTIONS);
    const elicitation = options.elicitation?.capability;
    this.#options = options;
    // Not `sampling.context`: the conversation with the user is never given to a server.
    this.capabilities = {
      ...(elicitation && { elicitation }),
      ...(options.sampling && { sampling: { tools: {} } }),
    };
  }

  async handle(request: InputRequest, context: InputContext): Promise<InputResult> {
    try {
      return await this.#answer(request, context);
    } catch (error) {
      const isWrong = error instanceof NexusError && error.code === "ARGUMENTS_INVALID";
      if (isWrong) this.#wrongReplies.set(context.server, error);
      throw error;
    }
  }

  /**
   * The error of a handler that returned no valid reply to this server, once. A legacy server learns only that its question
   * was not answered, so its result does not say why.
   */
  takeWrongReply(server: string): NexusError | undefined {
    const error = this.#wrongReplies.get(server);
    this.#wrongReplies.delete(server);
    return error;
  }

  #answer(request: InputRequest, context: InputContext): Promise<InputResult> {
    const { sampling, elicitation } = this.#options;
    if (request.method === "elicitation/create" && elicitation) {
      return elicitation.answer(context.server, request, context.signal);
    }
    if (request.method === "sampling/createMessage" && sampling) return sampling.answer(request, context);
    const message = `The agent did not declare support for ${request.method}`;
    return Promise.reject(new NexusError("CAPABILITY_MISSING", message));
  }
}
