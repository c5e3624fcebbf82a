import { exactJson, parseExactJson } from "../../json/exact-json.ts";
import type { Content } from "../../protocol/mcp.ts";
import type { FailureOptions } from "./failure.ts";
import type { Success } from "./response-reader.ts";
import type { TellingParts, Told, ToldTool } from "./told-answer.ts";
import type { UpstreamResponse } from "./upstream.ts";

// What is sent to the threads that read very large answers, and what comes back.

/** What a thread has to know of a tool; it is sent once. */
export type AnswerPlan = Pick<TellingParts, "file"> & ToldTool;

/** An answer that was read, as it is sent: its value as JSON with all digits. */
type SentSuccess = Omit<Success, "value"> & { value: string };

/** An answer that a thread reads unless it was read, and then tells, or shows to the steps of a tool. */
export interface AnswerTask extends Pick<TellingParts, "mostKept" | "wantsDifferences"> {
  wants: "told" | "read" | "step";
  /** The number of the plan, and the plan itself if the thread does not have it. */
  id: number;
  plan: AnswerPlan | undefined;
  answer: UpstreamResponse | undefined;
  /** Present if the answer was read. */
  success: SentSuccess | undefined;
  /** The arguments of the call as JSON with all digits: numbers of a class of ours cannot be sent. */
  input: string;
  hidden: readonly string[];
  wantsPayload: boolean;
}

/** What the thread sends back. */
export type AnswerReply =
  | { kind: "told"; told: Told; payload: Content | undefined }
  | { kind: "read"; success: SentSuccess; payload?: undefined }
  | { kind: "failure"; text: string; options: FailureOptions; payload: Content | undefined }
  | Unread;

/** Why an answer was not read; a limit can be told to callers. */
export interface Unread {
  kind: "problem";
  problem: string;
  isLimit?: boolean;
}

export function sentSuccess({ value, ...success }: Success): SentSuccess {
  return { ...success, value: exactJson(value) };
}

/** What was written of an object is one. */
export function receivedSuccess({ value, ...success }: SentSuccess): Success {
  return { ...success, value: parseExactJson(value) as Record<string, unknown> };
}
