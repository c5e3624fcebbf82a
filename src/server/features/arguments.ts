import type { Params } from "../../protocol/json-rpc.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";

/** A tool's arguments, read with a sentence for the model where one is wrong: such a failure is a result. */
export function stringArgument(args: Params, name: string): string {
  const value = args[name];
  if (typeof value !== "string") throw new TypeError(`"${name}" must be a string.`);
  return value;
}

export function numberArgument(args: Params, name: string, fallback?: number): number {
  const value = args[name] ?? fallback;
  if (typeof value !== "number" || !Number.isFinite(value)) throw new TypeError(`"${name}" must be a number.`);
  return value;
}

export function integerArgument(args: Params, name: string, range: { min: number; max: number; fallback: number }) {
  const value = numberArgument(args, name, range.fallback);
  if (!Number.isInteger(value) || value < range.min || value > range.max) {
    throw new RangeError(`"${name}" must be a whole number from ${range.min} to ${range.max}.`);
  }
  return value;
}

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** The same value for programs and, repeated as text, for models. */
export function structuredResult(value: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}
