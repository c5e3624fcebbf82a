import { parentPort } from "node:worker_threads";
import { messageOf } from "../../errors/nexus-error.ts";
import { parseExactJson } from "../../json/exact-json.ts";
import { CompletedValues, showing } from "../run/completed-values.ts";
import {
  type AnswerPlan,
  type AnswerReply,
  type AnswerTask,
  receivedSuccess,
  sentSuccess,
} from "../run/answer-task.ts";
import type { UpstreamResponse } from "../run/upstream.ts";
import { type ResponseReader, responseReader } from "../run/response-reader.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import { payloadOf, stepValue, toldAnswer } from "../run/told-answer.ts";

// The program of the threads that read very large answers.

interface KnownPlan extends AnswerPlan {
  values: CompletedValues;
  read: ResponseReader;
}

const plans = new Map<number, KnownPlan>();

parentPort?.on("message", (task: AnswerTask) => {
  let reply: AnswerReply;
  try {
    reply = replyTo(task);
  } catch (error) {
    reply = { kind: "problem", problem: messageOf(error) };
  }
  parentPort?.postMessage(reply);
});

function replyTo(task: AnswerTask): AnswerReply {
  const { answer, mostKept, wantsDifferences, wantsPayload } = task;
  const plan = planOf(task);
  const hidden = hiddenValues(task.hidden);
  // What was written of an object is one.
  const input = parseExactJson(task.input) as Record<string, unknown>;
  const reading = task.success
    ? receivedSuccess(task.success)
    : plan.read(needed(answer), input, showing(hidden, input));
  const payload = wantsPayload ? payloadOf(needed(answer), hidden) : undefined;
  if (reading.kind === "failure") {
    const { text, ...options } = reading;
    return { kind: "failure", text, options, payload };
  }
  const telling = { ...plan, hidden, mostKept, wantsDifferences };
  switch (task.wants) {
    case "told":
      return { kind: "told", told: toldAnswer(telling, plan, input, reading), payload };
    case "read":
      return { kind: "read", success: sentSuccess(reading) };
    case "step":
      return { kind: "read", success: sentSuccess({ ...reading, value: stepValue(telling, plan, reading) }) };
  }
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
    plans.set(id, { ...plan, values, read: responseReader(plan.file, plan.spec, values) });
  }
  const known = plans.get(id);
  if (!known) throw new Error("The tool of the answer is not known");
  return known;
}
