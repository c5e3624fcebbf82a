import { isRecord } from "../../json/is-record.ts";
import { isNestedDeeper } from "../../json/nesting.ts";
import type { ModelMessage } from "../model/model-message.ts";
import type { Usage } from "../model/model-provider.ts";

/** A conversation that can be resumed. */
export interface SavedSession {
  id: string;
  /** The first words of the person. */
  title: string;
  /** `provider:model` that answered last; empty in files of an older version if none did. */
  model: string;
  /** In milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
  messages: readonly ModelMessage[];
  usage: Usage;
  /** In US dollars; undefined if the price of a model is not known. */
  cost?: number | undefined;
}

/** Raised when what is written can no longer be read by older versions. */
export const SESSION_VERSION = 1;

/** What the messages of each role consist of. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "media"],
  assistant: ["text", "reasoning", "tool_call"],
  tool: ["tool_result"],
};
const MAX_TITLE = 60;

/** The session in a parsed file; undefined if it is none. */
export function readSession(value: unknown): SavedSession | undefined {
  if (!isRecord(value)) return undefined;
  const { id, title, model, createdAt, updatedAt, messages, usage, cost } = value;
  const isNamed = typeof id === "string" && typeof title === "string" && typeof model === "string";
  const isTimed = typeof createdAt === "number" && typeof updatedAt === "number";
  if (!isNamed || !isTimed || !isUsage(usage) || !Array.isArray(messages) || !messages.every(isMessage))
    return undefined;
  return {
    id,
    title,
    model,
    createdAt,
    updatedAt,
    messages,
    usage,
    ...(typeof cost === "number" ? { cost } : {}),
  };
}

/** The first line of what a person wrote, on one short line. */
export function titleOf(text: string): string {
  const line = text.trim().split(/\r?\n/)[0] ?? "";
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function isUsage(value: unknown): value is Usage {
  return isRecord(value) && typeof value["inputTokens"] === "number" && typeof value["outputTokens"] === "number";
}

function isMessage(value: unknown): value is ModelMessage {
  if (!isRecord(value) || isNestedDeeper(value)) return false;
  const { role, content } = value;
  const kinds = typeof role === "string" && Object.hasOwn(PARTS, role) ? PARTS[role] : undefined;
  return kinds !== undefined && Array.isArray(content) && content.every((part) => isPart(part, kinds));
}

function isPart(value: unknown, kinds: readonly string[]): boolean {
  if (!isRecord(value) || !kinds.includes(String(value["type"]))) return false;
  switch (value["type"]) {
    case "text":
    case "reasoning":
      return typeof value["text"] === "string";
    case "media":
      return typeof value["data"] === "string" && typeof value["mediaType"] === "string";
    case "tool_call":
      return isCall(value);
    default:
      return (
        isCall(value) &&
        Array.isArray(value["content"]) &&
        value["content"].every((part) => isPart(part, ["text", "media"]))
      );
  }
}

function isCall(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value["id"] === "string" && typeof value["name"] === "string";
}
