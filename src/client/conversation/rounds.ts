import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { Question } from "../../protocol/mcp.ts";
import { URL_ELICITATION_REQUIRED } from "../../protocol/meta.ts";
import type { CallScope } from "./call-scope.ts";
import type { InputDesk } from "./input.ts";

interface RoundsOptions {
  exchange: (params: Params) => Promise<Result>;
  desk: InputDesk;
  scope: CallScope;
  /** Limits rounds with questions. Rounds that only wait are limited by the timeout of the call. */
  maxRounds: number;
}

/** Maximum number of questions in one round: each may be shown to a person. */
const MAX_QUESTIONS = 100;
const WAIT_MS = { first: 250, longest: 5_000 };

/**
 * Repeats a call until its result is complete: answers the server's questions, and sends the call again with the same
 * parameters, the answers, and the server's state unchanged.
 */
export async function runRounds(params: Params, { exchange, desk, scope, maxRounds }: RoundsOptions): Promise<Result> {
  const accepted = new Set<string>();
  let answers: Params = {};
  let waitMs = WAIT_MS.first;
  let { resume } = scope.options;
  for (let asked = 0; ;) {
    const before: Asked | undefined = resume && { result: resume, questions: questionsIn(resume) };
    resume = undefined;
    const { result, questions, error } =
      before ?? (await ask(() => exchange({ ...params, ...answers }), { desk, scope }));
    if (!questions) return result;
    scope.touch();

    const isWait = Object.values(questions).every((question) => accepted.has(urlOf(question) ?? ""));
    if (isWait) {
      await scope.rest(waitMs);
      waitMs = Math.min(waitMs * 2, WAIT_MS.longest);
    } else if (++asked > maxRounds) {
      throw new NexusError("INPUT_FAILED", `The server asked ${asked} times without finishing ${scope.call.method}`);
    }
    const inputResponses = await answerAll(questions, accepted, { desk, scope }).catch((failure: unknown) => {
      // With the questions and the server's state, the call can be continued later.
      const isParkable = failure instanceof NexusError && failure.code === "INPUT_FAILED" && !error;
      throw isParkable ? failure.with({ raw: result }) : failure;
    });
    // Without the visit, the server would refuse the call again.
    if (error && !Object.values(inputResponses).every(isAccepted)) throw error;
    answers = result["inputRequests"] === undefined ? {} : { inputResponses };
    if (result["requestState"] !== undefined) answers["requestState"] = result["requestState"];
  }
}

type Asked = { result: Result; questions?: Record<string, Question>; error?: NexusError };

/** One exchange, and the questions in its answer: an `input_required`, or the error with URLs of 2025-11-25. */
async function ask(
  exchange: () => Promise<Result>,
  { desk, scope }: { desk: InputDesk; scope: CallScope },
): Promise<Asked> {
  try {
    const result = await exchange();
    return result.resultType === "input_required" ? { result, questions: questionsIn(result) } : { result };
  } catch (error) {
    const visits = error instanceof NexusError ? urlQuestions(error) : undefined;
    // The call did not run, and is repeated unchanged after the visit. If the user cannot be asked, the error is
    // thrown.
    if (!visits || scope.stopped || !Object.values(visits).every((visit) => desk.declares(visit, scope.options.input)))
      throw error;
    return { result: {}, questions: visits, error: error as NexusError };
  }
}

function questionsIn(result: Result): Record<string, Question> {
  const { inputRequests, requestState } = result;
  const isFine = inputRequests === undefined ? requestState !== undefined : isRecord(inputRequests);
  const questions = isRecord(inputRequests) ? Object.entries(inputRequests) : [];
  if (questions.length > MAX_QUESTIONS) {
    const message = `The server asks ${questions.length} questions at once; the limit is ${MAX_QUESTIONS}`;
    throw new NexusError("PROTOCOL_VIOLATION", message, { mayHaveReached: true });
  }
  if (isFine && questions.every(([, question]) => isRecord(question) && typeof question["method"] === "string")) {
    return Object.fromEntries(questions) as Record<string, Question>;
  }
  throw new NexusError("PROTOCOL_VIOLATION", "The server requests input but sent no questions", {
    raw: result,
    mayHaveReached: true,
  });
}

/**
 * Answers all questions of a round at once; if one fails, the others are cancelled. `accepted` are URLs that were
 * visited.
 */
export async function answerAll(
  questions: Record<string, Question>,
  accepted: Set<string>,
  { desk, scope }: { desk: InputDesk; scope: CallScope },
): Promise<Params> {
  const siblings = new AbortController();
  const signal = AbortSignal.any([scope.handlerSignal, siblings.signal]);
  const stopped = new Promise<never>((_, reject) => {
    scope.handlerSignal.addEventListener(
      "abort",
      () => reject(scope.stopped ?? new NexusError("CANCELLED", "The call has ended")),
      {
        once: true,
      },
    );
  });
  stopped.catch(() => {});
  scope.pause();
  try {
    const answering = Object.entries(questions).map(async ([key, question]) => {
      const url = urlOf(question);
      if (url !== undefined && accepted.has(url)) return [key, { action: "accept" }] as const;
      const answer = await desk.answer(question, { call: scope.call, key, signal }, scope.options.input);
      if (url !== undefined && answer["action"] === "accept") accepted.add(url);
      return [key, answer] as const;
    });
    const answers = await Promise.race([Promise.all(answering), stopped]);
    return Object.fromEntries(answers);
  } catch (error) {
    siblings.abort(error);
    // The call was sent, and the server may have begun.
    throw error instanceof NexusError ? error.with({ mayHaveReached: true }) : error;
  } finally {
    scope.resume();
  }
}

function isAccepted(answer: unknown): boolean {
  return isRecord(answer) && answer["action"] === "accept";
}

function urlOf({ params }: Question): string | undefined {
  const url = params?.["mode"] === "url" ? params["url"] : undefined;
  return typeof url === "string" ? url : undefined;
}

/** The URLs that must be visited first (2025-11-25), as questions. */
export function urlQuestions({ details: { rpc } }: NexusError): Record<string, Question> | undefined {
  if (rpc?.code !== URL_ELICITATION_REQUIRED || !isRecord(rpc.data)) return undefined;
  const { elicitations } = rpc.data;
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  const questions = elicitations.filter(isRecord).map((params): [string, Question] => {
    return [
      String(params["elicitationId"] ?? params["url"]),
      { method: "elicitation/create", params: { mode: "url", ...params } },
    ];
  });
  return Object.fromEntries(questions);
}
