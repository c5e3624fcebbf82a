import { abortSignalOf, type CancelSignal } from "../client/cancellation.ts";
import type { ServerDefinition } from "../config/server-definition.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Tool } from "../protocol/mcp.ts";
import { decide, isVisible, type Decision, type PolicySettings } from "./policy.ts";
import { unlessAborted } from "./unless-aborted.ts";

export interface GuardedCall {
  definition: ServerDefinition;
  tool: Tool;
  args: unknown;
  agent: string | undefined;
  signal: CancelSignal | undefined;
}

/** Holds a host to its policy: hides, refuses, and asks for consent where that is wanted. */
export class PolicyGuard {
  readonly #settings: PolicySettings;

  constructor(settings: PolicySettings = {}) {
    this.#settings = settings;
  }

  isVisible(server: string, agent: string | undefined): boolean {
    return isVisible(this.#settings, server, agent);
  }

  requireVisible(server: string, agent: string | undefined): void {
    if (this.isVisible(server, agent)) return;
    throw new NexusError("DENIED", `Server "${server}" is not shared with this agent`, {
      server,
      mayHaveReached: false,
    });
  }

  isListed(definition: ServerDefinition, tool: Tool, agent: string | undefined): boolean {
    return this.#decide(definition, tool, agent).kind !== "denied";
  }

  /** Throws where it is denied; a promise only where somebody has to be asked. */
  permit(call: GuardedCall): Promise<void> | undefined {
    const decision = this.#decide(call.definition, call.tool, call.agent);
    if (decision.kind === "denied") throw refusal(call, decision.reason);
    return decision.kind === "needs-consent" ? this.#askConsent(call) : undefined;
  }

  async #askConsent(call: GuardedCall): Promise<void> {
    const { definition, tool, args, agent, signal } = call;
    const { name, annotations } = tool;
    const request = {
      server: definition.id,
      tool: name,
      arguments: args,
      annotations,
      agent,
      signal: signal && abortSignalOf(signal),
    };
    const answer = Promise.resolve(this.#settings.consent?.(request));
    if (!(await unlessAborted(answer, signal))) throw refusal(call, "consent was not given");
  }

  #decide({ id, tools }: ServerDefinition, { name, annotations }: Tool, agent: string | undefined): Decision {
    return decide(this.#settings, { server: id, tool: name, annotations, own: tools }, agent);
  }
}

function refusal({ definition: { id }, tool }: GuardedCall, reason: string): NexusError {
  return new NexusError("DENIED", `"${tool.name}" of "${id}" may not be called: ${reason}`, {
    server: id,
    mayHaveReached: false,
  });
}
