import type { QueuePlace } from "../../async/fair-queue.ts";
import { instanceKey } from "../../auth/server-instance.ts";
import { unpackJson } from "../../json/exact-json.ts";
import type { Content } from "../../protocol/mcp.ts";
import type { PackedValue, Unread } from "./answer-task.ts";
import { ANSWER_THREADS, type AnswerAsked } from "./answer-threads.ts";
import type { Tracing } from "./call-trace.ts";
import { Failure } from "./failure.ts";
import type { PackedPage } from "./pages/page.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { ReadValue, Told, ValueUse } from "./told-answer.ts";
import type { ToolPlan } from "./tool-plan.ts";

// Very large answers are read in other threads.

/** From here on, because some that are as large take longer to be read than a turn of the event loop may. */
const VERY_LARGE_BYTES = 128 * 1024;

export function goesApart(bytes: number): boolean {
  return bytes >= VERY_LARGE_BYTES && ANSWER_THREADS.isBuilt;
}

/** What is read: an answer, or the pages of a list. */
export type AskedApart = Omit<AnswerAsked, "telling" | "plan"> & { trace: Tracing };

export async function tellApart(
  parts: RunnerParts,
  plan: ToolPlan,
  asked: AskedApart,
): Promise<{ reading: Told | Failure; payload: Content | undefined }> {
  const told = await ANSWER_THREADS.tell({ ...asked, telling: parts.telling, plan }, placeOf(parts, plan));
  return "problem" in told ? { reading: notRead(parts, told, asked), payload: undefined } : told;
}

export async function valueApart(
  parts: RunnerParts,
  plan: ToolPlan,
  asked: AskedApart,
  use: ValueUse,
): Promise<PackedValue | Failure> {
  const read = await ANSWER_THREADS.value({ ...asked, telling: parts.telling, plan }, placeOf(parts, plan), use);
  return read.kind === "problem" ? notRead(parts, read, asked) : read;
}

export async function pageApart(parts: RunnerParts, plan: ToolPlan, asked: AskedApart): Promise<PackedPage | Failure> {
  const read = await ANSWER_THREADS.page({ ...asked, telling: parts.telling, plan }, placeOf(parts, plan));
  return read.kind === "problem" ? notRead(parts, read, asked) : read;
}

export function unpackValue(read: PackedValue | ReadValue): ReadValue {
  // What was written of an object is one.
  return read.kind === "value"
    ? read
    : { ...read, kind: "value", value: unpackJson(read.value) as Record<string, unknown> };
}

/** The request was sent: the outcome must not be reported as not sent. */
export function notUnderstood(
  { api }: Pick<RunnerParts, "api">,
  reason: string,
  { trace }: Pick<AskedApart, "trace">,
): Failure {
  trace.note("error", "The answer could not be understood", { reason });
  return new Failure(`${api.file.title} responded, but the response could not be understood.`, { outcome: "unknown" });
}

/** What is a limit is told to the caller. */
function notRead(parts: RunnerParts, { problem, isLimit }: Unread, asked: Pick<AskedApart, "trace">): Failure {
  const failure = notUnderstood(parts, problem, asked);
  if (!isLimit) return failure;
  const text = `${parts.api.file.title} sent a response that could not be read: ${problem}.`;
  return new Failure(text, { again: "Ask for less at once.", outcome: "unknown" });
}

/** APIs take turns, and in each of them its tools. */
function placeOf({ instance }: RunnerParts, { name }: ToolPlan): QueuePlace {
  return { group: instanceKey(instance), member: name };
}
