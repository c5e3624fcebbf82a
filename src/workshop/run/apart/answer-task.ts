import type { PackedJson } from "../../../json/exact-json.ts";
import type { Content } from "../../../protocol/mcp.ts";
import type { Deviation } from "../../codec/record/deviations.ts";
import type { FailureOptions } from "../failure.ts";
import type { PackedPage, PackedPages } from "../pages/page.ts";
import type { StepsAbout, ToldSteps } from "../steps/told-steps.ts";
import type { TellingParts, Told, ToldTool, ValueUse } from "../told-answer.ts";
import type { UpstreamResponse } from "../upstream.ts";

// What is sent to the threads that read very large answers, and what comes back.

/** What a thread has to know of a tool; it is sent once. */
export type AnswerPlan = Pick<TellingParts, "file"> & (ToldTool | ToldSteps);

export interface AnswerTask extends Pick<TellingParts, "mostKept" | "wantsDifferences"> {
  /** The number of the plan, and the plan itself if the thread does not have it. */
  id: number;
  plan: AnswerPlan | undefined;
  hidden: readonly string[];
  work: AnswerWork | StepsWork;
}

/** An answer, or the pages of a list, and what a thread makes of it. */
export interface AnswerWork {
  wants: "told" | "page" | ValueUse;
  answer: UpstreamResponse | undefined;
  /** Present if the pages of a list were read; the answer is then that of the last one. */
  pages: PackedPages | undefined;
  /** The arguments of the call: numbers of a class of ours cannot be sent. */
  input: PackedJson;
  wantsPayload: boolean;
}

/** What the steps of a tool gave, to be told. */
export interface StepsWork extends StepsAbout {
  wants: "steps";
  /** What expressions see, by name. */
  scope: readonly (readonly [name: string, value: PackedJson | readonly PackedJson[]])[];
}

/** The value of an answer. */
export interface PackedValue {
  kind: "packed value";
  value: PackedJson;
  deviations: readonly Deviation[];
  /** How the answer differs from what is documented, for the one who keeps the file. */
  differences: readonly Record<string, string>[];
}

/** What the thread sends back. */
export type AnswerReply =
  | { kind: "told"; told: Told; payload: Content | undefined }
  | PackedValue
  | PackedPage
  | { kind: "failure"; text: string; options: FailureOptions; payload: Content | undefined }
  | Unread;

/** Why an answer was not read; a limit can be told to callers. */
export interface Unread {
  kind: "problem";
  problem: string;
  isLimit?: boolean;
}
