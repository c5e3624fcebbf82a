import { parentPort } from "node:worker_threads";
import { messageOf } from "../../errors/nexus-error.ts";
import { packJson, unpackJson } from "../../json/exact-json.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import type { AnswerPlan, AnswerReply, AnswerTask } from "../run/answer-task.ts";
import { CompletedValues, showing } from "../run/completed-values.ts";
import { gatheredAnswer, packPage, pageIn, unpackPages } from "../run/pages/page.ts";
import { type ResponseReader, responseReader } from "../run/response-reader.ts";
import { payloadOf, readValue, toldAnswer } from "../run/told-answer.ts";
import type { UpstreamResponse } from "../run/upstream.ts";

// The program of the threads that read very large answers.

type Value = Record<string, unknown>;

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
  parentPort?.postMessage(reply, givenAway(reply));
});

function replyTo(task: AnswerTask): AnswerReply {
  const { answer, pages, mostKept, wantsDifferences, wantsPayload } = task;
  const plan = planOf(task);
  const hidden = hiddenValues(task.hidden);
  // What was written of an object is one.
  const input = unpackJson(task.input) as Value;
  const telling = { ...plan, hidden, mostKept, wantsDifferences };
  const reading = pages
    ? gatheredAnswer(telling, plan.spec, unpackPages(pages), input)
    : plan.read(needed(answer), input, showing(hidden, input));
  const payload = wantsPayload ? payloadOf(needed(answer), hidden) : undefined;
  if (reading.kind === "failure") {
    const { text, ...options } = reading;
    return { kind: "failure", text, options, payload };
  }
  switch (task.wants) {
    case "told":
      return { kind: "told", told: toldAnswer(telling, plan, input, reading), payload };
    case "page": {
      const { status, headers } = needed(answer);
      return packPage(pageIn(plan, reading, { input, status, headers }));
    }
    case "whole":
    case "step": {
      const { value, ...read } = readValue(telling, plan, reading, task.wants);
      return { ...read, kind: "packed value", value: packJson(value) };
    }
  }
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
    plans.set(id, { ...plan, values, read: responseReader(plan.file, plan.spec, values) });
  }
  const known = plans.get(id);
  if (!known) throw new Error("The tool of the answer is not known");
  return known;
}
