import type { ToolAnnotations } from "../../protocol/mcp.ts";

/** A tool call that a model wants to make. Everything in it but `server` comes from a server or a model. */
export interface WantedCall {
  server: string;
  /** The name at its server. */
  tool: string;
  arguments: unknown;
  annotations: ToolAnnotations;
  /** Hash of the tool's definition: a remembered decision is about this definition. */
  definitionHash: string | undefined;
  /**
   * For a tool that says that it calls others (`callsOthers`): the other tool of the same server. A decision is about this
   * pair. Only of a server that Nexus itself runs is it proof of what the call does.
   */
  calls?: string | undefined;
}

export type ConsentAnswer = { kind: "allowed" } | { kind: "denied"; reason: string };

/** Decides whether a call may be made. The agent asks it for every call, also for those of read-only tools. */
export interface ToolConsent {
  decide(call: WantedCall, signal: AbortSignal): Promise<ConsentAnswer>;
}
