import { parentPort } from "node:worker_threads";
import { messageOf } from "../../errors/nexus-error.ts";
import { packJson, type PackedJson, unpackJson } from "../../json/exact-json.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import type { AnswerPlan, AnswerReply, AnswerTask, AnswerWork, StepsWork } from "../run/apart/answer-task.ts";
import { CompletedValues, showing } from "../run/completed-values.ts";
import { gatheredAnswer, packPage, pageIn, unpackPages } from "../run/pages/page.ts";
import { type ResponseReader, responseReader } from "../run/response-reader.ts";
import { toldSteps } from "../run/steps/told-steps.ts";
import { payloadOf, readValue, type TellingParts, toldAnswer, type ToldTool } from "../run/told-answer.ts";
import type { UpstreamResponse } from "../run/upstream.ts";

// The program of the threads that read very large answers.

type Value = Record<string, unknown>;

type KnownPlan = AnswerPlan & {
  values: CompletedValues;
  /** Of a tool with a request. */
  read: ResponseReader | undefined;
};

const plans = new Map<number, KnownPlan>();

parentPort?.on("message", (task: AnswerTask) => {
  let reply: AnswerReply;
  try {
    reply = replyTo(task);
  } catch (error) {
    reply = { kind: "problem", problem: messageOf(error) };
  }
  parentPort?.postMessage(reply, givenAway(reply));
});

function replyTo(task: AnswerTask): AnswerReply {
  const { work, mostKept, wantsDifferences } = task;
  const plan = planOf(task);
  const telling = { ...plan, hidden: hiddenValues(task.hidden), mostKept, wantsDifferences };
  if (work.wants === "steps") {
    if (plan.kind !== "steps") throw new Error("The tool has no steps");
    return { kind: "told", told: toldSteps(telling, plan, unpackScope(work), work), payload: undefined };
  }
  if (plan.kind !== "request" || !plan.read) throw new Error("The tool has no request");
  return answered(telling, { ...plan, read: plan.read }, work);
}

function answered(
  telling: TellingParts,
  plan: ToldTool & { read: ResponseReader },
  { wants, answer, pages, input: packed, wantsPayload }: AnswerWork,
): AnswerReply {
  const { hidden } = telling;
  // What was written of an object is one.
  const input = unpackJson(packed) as Value;
  const reading = pages
    ? gatheredAnswer(telling, plan.spec, unpackPages(pages), input)
    : plan.read(needed(answer), input, showing(hidden, input));
  const payload = wantsPayload ? payloadOf(needed(answer), hidden) : undefined;
  if (reading.kind === "failure") {
    const { text, ...options } = reading;
    return { kind: "failure", text, options, payload };
  }
  switch (wants) {
    case "told":
      return { kind: "told", told: toldAnswer(telling, plan, input, reading), payload };
    case "page": {
      const { status, headers } = needed(answer);
      return packPage(pageIn(plan, reading, { input, status, headers }));
    }
    case "whole":
    case "step": {
      const { value, deviations, differences } = readValue(telling, plan, reading, { use: wants, bytes: 0 });
      return { kind: "packed value", value: packJson(value), deviations, differences };
    }
  }
}

function unpackScope({ scope }: StepsWork): Value {
  const valueOf = (packed: PackedJson | readonly PackedJson[]) =>
    "bytes" in packed ? unpackJson(packed) : packed.map(unpackJson);
  return Object.fromEntries(scope.map(([name, packed]) => [name, valueOf(packed)]));
}

function givenAway(reply: AnswerReply): ArrayBuffer[] {
  if (reply.kind === "packed value") return [reply.value.bytes.buffer];
  return reply.kind === "packed page" ? [reply.items.bytes.buffer, reply.others.bytes.buffer] : [];
}

function needed(answer: UpstreamResponse | undefined): UpstreamResponse {
  if (!answer) throw new Error("There is no answer to read");
  return answer;
}

function hiddenValues(values: readonly string[]): HiddenValues {
  const hidden = new HiddenValues();
  for (const value of values) hidden.hide(value);
  return hidden;
}

function planOf({ id, plan }: AnswerTask): KnownPlan {
  if (plan) {
    const values = new CompletedValues(plan.file, "output");
    const read = plan.kind === "request" ? responseReader(plan.file, plan.spec, values) : undefined;
    plans.set(id, { ...plan, values, read });
  }
  const known = plans.get(id);
  if (!known) throw new Error("The tool of the answer is not known");
  return known;
}
