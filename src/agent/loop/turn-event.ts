import type { Usage } from "../model/model-provider.ts";

/** How a tool call ended. */
export type StepOutcome =
  | "ok"
  /** The tool itself reported an error. */
  | "tool_error"
  /** It could not be called, or its arguments did not fit its schema. */
  | "error"
  | "denied"
  | "cancelled";

/** Why a turn ended. */
export type StopReason = "end" | "steps" | "budget" | "cancelled" | "error";

/** One tool call of a turn. */
export interface TurnStep {
  server: string;
  /** The name at its server. */
  tool: string;
  arguments: unknown;
  outcome: StepOutcome;
  durationMs: number;
  /** Why it has no result: with the outcomes `error`, `denied` and `cancelled`. */
  message?: string | undefined;
}

/** What happens during a turn, in order; for programs that show it. */
export type TurnEvent =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "wait"; ms: number; reason: string }
  /** Something that the user should know, for example a tool that the provider does not accept. */
  | { type: "notice"; text: string }
  /** An answer of the model is complete. */
  | { type: "answer"; usage: Usage }
  | { type: "tool_start"; id: string; server: string; tool: string; arguments: unknown }
  | { type: "tool_progress"; id: string; progress: number; total?: number | undefined; message?: string | undefined }
  /** `bytes`: the size of the result; `isShortened`: the model got only a part of it. */
  | { type: "tool_end"; id: string; step: TurnStep; bytes: number; isShortened: boolean; error?: string | undefined };
