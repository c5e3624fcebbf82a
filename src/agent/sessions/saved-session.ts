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

const MAX_TITLE = 60;

/** The first line of what a person wrote, on one short line. */
export function titleOf(text: string): string {
  const line = text.trim().split(/\r?\n/)[0] ?? "";
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
