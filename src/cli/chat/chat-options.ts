import { asNexusError } from "../../errors/nexus-error.ts";
import { parsePattern } from "../../host/directory/policy.ts";
import type { Options, OptionValues } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";

/** Options of every command that opens a chat. */
export const CHAT_OPTIONS = {
  prompt: { type: "string", short: "p", value: "TEXT", help: "answer this once and end; - reads it from stdin" },
  model: { type: "string", value: "provider:model", help: `the model to use; "nexus models list" lists them` },
  yes: { type: "boolean", help: "run all tools without asking" },
  "read-only": { type: "boolean", help: "use only tools that are annotated as read-only" },
  allow: { type: "string", multiple: true, value: "PATTERN", help: "tools that run without asking; repeatable" },
  deny: { type: "string", multiple: true, value: "PATTERN", help: "tools and servers that are not used; repeatable" },
  "max-steps": { type: "string", value: "N", help: "answers with tool calls in one turn; default: 50" },
  budget: { type: "string", value: "TOKENS", help: "input and output tokens of one turn; default: no limit" },
  "allow-sampling": {
    type: "string",
    multiple: true,
    value: "SERVER",
    help: "let this server use the model without asking; repeatable",
  },
} as const satisfies Options;

export type ChatValues = OptionValues<typeof CHAT_OPTIONS>;

/** The limits of one turn. */
interface TurnLimits {
  maxSteps?: number;
  budget?: number;
}

/** Throws for options that cannot be used, before anything starts. */
export function requireSound(options: ChatValues): void {
  turnLimits(options);
  for (const option of ["allow", "deny"] as const) {
    for (const text of options[option] ?? []) requirePattern(text, `--${option}`);
  }
}

function requirePattern(text: string, option: string): void {
  try {
    parsePattern(text);
  } catch (error) {
    const { message, hint } = asNexusError(error);
    throw wrongUsage(`${option}: ${message}`, hint);
  }
}

export function turnLimits({ "max-steps": steps, budget }: ChatValues): TurnLimits {
  return {
    ...(steps === undefined ? {} : { maxSteps: positive(steps, "--max-steps", 20) }),
    ...(budget === undefined ? {} : { budget: positive(budget, "--budget", 20_000) }),
  };
}

function positive(text: string, option: string, example: number): number {
  const value = Number(text.replaceAll("_", ""));
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw wrongUsage(`${option} "${text}" is not a positive whole number`, `Use ${option} ${example}.`);
}
