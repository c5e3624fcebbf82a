import { randomBytes } from "node:crypto";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { InputResult, Question } from "../../protocol/mcp.ts";
import { withoutReservedMeta } from "../../server/core/request-meta.ts";

interface PendingQuestion {
  question: Question;
  resolve: (answer: InputResult) => void;
  reject: (error: NexusError) => void;
}

/** Open questions of a legacy server, each under a key of the gateway that is used once. */
export class ParkedQuestions {
  readonly #pending = new Map<string, PendingQuestion>();
  readonly #onAsked: () => void;
  #prefix: string | undefined;
  #asked = 0;

  constructor(onAsked: () => void) {
    this.#onAsked = onAsked;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Waits for the answer. A cancelled question is removed. */
  ask(question: Question, signal: AbortSignal): Promise<InputResult> {
    this.#prefix ??= randomBytes(4).toString("hex");
    const key = `${this.#prefix}-${++this.#asked}`;
    return new Promise<InputResult>((resolve, reject) => {
      const withdrawn = () => {
        this.#pending.delete(key);
        reject(new NexusError("CANCELLED", "The question was cancelled"));
      };
      if (signal.aborted) return withdrawn();
      signal.addEventListener("abort", withdrawn, { once: true });
      this.#pending.set(key, { question: modernQuestion(question), resolve, reject });
      this.#onAsked();
    });
  }

  /** The open questions in the form of `input_required`. */
  requests(): Record<string, Question> {
    return Object.fromEntries([...this.#pending].map(([key, { question }]) => [key, question]));
  }

  /**
   * Resolves the questions that are answered. Answers with unknown keys are ignored: they may have come twice or too
   * late.
   */
  answer(responses: unknown): void {
    if (!isRecord(responses)) return;
    for (const [key, answer] of Object.entries(responses)) {
      const pending = this.#pending.get(key);
      if (!pending || !isRecord(answer)) continue;
      this.#pending.delete(key);
      pending.resolve(answer as unknown as InputResult);
    }
  }

  /** Refuses all open questions: a form is cancelled, others fail. */
  refuse(): void {
    for (const { question, resolve, reject } of this.#pending.values()) {
      if (question.method === "elicitation/create") resolve({ action: "cancel" });
      else reject(new NexusError("INPUT_FAILED", `${question.method} was not answered in time`));
    }
    this.#pending.clear();
  }
}

/** A legacy server's question in the form of the newest revision. */
function modernQuestion({ method, params }: Question): Question {
  if (params === undefined) return { method };
  const carried: Params = withoutReservedMeta(params);
  if (method !== "elicitation/create") return { method, params: carried };
  const { elicitationId: _id, ...rest } = carried;
  return { method, params: { mode: "form", ...rest } };
}
