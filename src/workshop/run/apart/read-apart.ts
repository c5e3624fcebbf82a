import type { QueuePlace } from "../../../async/fair-queue.ts";
import { instanceKey } from "../../../auth/server-instance.ts";
import { packJson, unpackJson } from "../../../json/exact-json.ts";
import type { Content } from "../../../protocol/mcp.ts";
import type { AnswerReply, AnswerWork, PackedValue, StepsWork, Unread } from "./answer-task.ts";
import { ANSWER_THREADS, type ThreadQuestion } from "./answer-threads.ts";
import type { Tracing } from "../call-trace.ts";
import { Failure } from "../failure.ts";
import type { PackedPage, PackedPages } from "../pages/page.ts";
import type { RunnerParts } from "../runner-parts.ts";
import type { StepsPlan } from "../steps/steps-plan.ts";
import type { Told, ValueUse } from "../told-answer.ts";
import type { ToolPlan } from "../tool-plan.ts";
import type { UpstreamResponse } from "../upstream.ts";

// Very large answers are read in other threads.

/** From here on, because some that are as large take longer to be read than a turn of the event loop may. */
const VERY_LARGE_BYTES = 128 * 1024;

export function goesApart(bytes: number): boolean {
  return bytes >= VERY_LARGE_BYTES && ANSWER_THREADS.isBuilt;
}

/** What is read: an answer, or the pages of a list. */
interface AskedApart extends Pick<ThreadQuestion, "signal">, Omit<AnswerWork, "wants" | "pages" | "input"> {
  pages?: PackedPages;
  input: Record<string, unknown>;
  trace: Tracing;
}

export async function tellApart(
  parts: RunnerParts,
  plan: ToolPlan,
  asked: AskedApart,
): Promise<{ reading: Told | Failure; payload: Content | undefined }> {
  const reply = await ask(parts, plan, asked, "told");
  const payload = "payload" in reply ? reply.payload : undefined;
  return { reading: reply.kind === "told" ? reply.told : failureIn(parts, reply, asked), payload };
}

export async function valueApart(
  parts: RunnerParts,
  plan: ToolPlan,
  asked: AskedApart,
  use: ValueUse,
): Promise<PackedValue | Failure> {
  const reply = await ask(parts, plan, asked, use);
  return reply.kind === "packed value" ? reply : failureIn(parts, reply, asked);
}

export async function pageApart(parts: RunnerParts, plan: ToolPlan, asked: AskedApart): Promise<PackedPage | Failure> {
  const reply = await ask(parts, plan, asked, "page");
  return reply.kind === "packed page" ? reply : failureIn(parts, reply, asked);
}

/** Tells what the steps of a tool gave. */
export async function tellStepsApart(
  parts: RunnerParts,
  plan: StepsPlan,
  { signal, trace, ...work }: Omit<StepsWork, "wants"> & Pick<AskedApart, "signal" | "trace">,
): Promise<Told | Failure> {
  const { telling } = parts;
  const makeWork = () => ({
    work: { ...work, wants: "steps" as const },
    given: work.scope.flatMap(([, value]) => value).map(({ bytes }) => bytes),
  });
  const reply = await ANSWER_THREADS.ask({ telling, plan, signal, work: makeWork }, placeOf(parts, plan));
  return reply.kind === "told" ? reply.told : failureIn(parts, reply, { trace });
}

function ask(
  parts: RunnerParts,
  plan: ToolPlan,
  { answer, pages, input, wantsPayload, signal }: AskedApart,
  wants: AnswerWork["wants"],
): Promise<AnswerReply> {
  const { telling } = parts;
  const makeWork = () => {
    // Of a page, what came is needed again if it is shown.
    const sent = answer && sendable(answer, { isLast: !(wants === "page" && wantsPayload) });
    const packed = pages ? [...pages.items, pages.others] : [];
    const given = [...(sent ? [sent.body] : []), ...packed.map(({ bytes }) => bytes)];
    const payload = wantsPayload && wants === "told";
    return { work: { wants, answer: sent, pages, input: packJson(input), wantsPayload: payload }, given };
  };
  return ANSWER_THREADS.ask({ telling, plan, signal, work: makeWork }, placeOf(parts, plan));
}

/** Bytes that may be given away are not copied; those of a small answer may lie among others. */
function sendable({ status, headers, body }: UpstreamResponse, { isLast }: { isLast: boolean }) {
  const { buffer } = body;
  const isOwn = isLast && buffer instanceof ArrayBuffer && buffer.byteLength === body.byteLength;
  return { status, headers: { ...headers }, body: isOwn ? new Uint8Array(buffer) : new Uint8Array(body) };
}

export function unpackValue({ value }: Pick<PackedValue, "value">): Record<string, unknown> {
  // What was written of an object is one.
  return unpackJson(value) as Record<string, unknown>;
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

function failureIn(parts: RunnerParts, reply: AnswerReply, asked: Pick<AskedApart, "trace">): Failure {
  switch (reply.kind) {
    case "failure":
      return new Failure(reply.text, reply.options);
    case "problem":
      return notRead(parts, reply, asked);
    case "told":
    case "packed value":
    case "packed page":
      return notUnderstood(parts, `the thread answered with a ${reply.kind}`, asked);
  }
}

/** What is a limit is told to the caller. */
function notRead(parts: RunnerParts, { problem, isLimit }: Unread, asked: Pick<AskedApart, "trace">): Failure {
  const failure = notUnderstood(parts, problem, asked);
  if (!isLimit) return failure;
  const text = `${parts.api.file.title} sent a response that could not be read: ${problem}.`;
  return new Failure(text, { again: "Ask for less at once.", outcome: "unknown" });
}

/** APIs take turns, and in each of them its tools. */
function placeOf({ instance }: RunnerParts, { name }: { name: string }): QueuePlace {
  return { group: instanceKey(instance), member: name };
}
