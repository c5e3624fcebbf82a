import { randomBytes } from "node:crypto";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { InputResult, Question } from "../../protocol/mcp.ts";
import { withoutReservedMeta } from "../../server/core/reserved-meta.ts";

interface Waiting {
  question: Question;
  resolve: (answer: InputResult) => void;
  reject: (error: NexusError) => void;
}

/** What a legacy server asked and nobody has answered yet, each under a key of ours that is used once. */
export class ParkedQuestions {
  readonly #waiting = new Map<string, Waiting>();
  readonly #onAsked: () => void;
  #prefix: string | undefined;
  #asked = 0;

  constructor(onAsked: () => void) {
    this.#onAsked = onAsked;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Waits for the answer. A question that is withdrawn is no longer there. */
  ask(question: Question, signal: AbortSignal): Promise<InputResult> {
    this.#prefix ??= randomBytes(4).toString("hex");
    const key = `${this.#prefix}-${++this.#asked}`;
    return new Promise<InputResult>((resolve, reject) => {
      const withdrawn = () => {
        this.#waiting.delete(key);
        reject(new NexusError("CANCELLED", "The question was cancelled"));
      };
      if (signal.aborted) return withdrawn();
      signal.addEventListener("abort", withdrawn, { once: true });
      this.#waiting.set(key, { question: modernQuestion(question), resolve, reject });
      this.#onAsked();
    });
  }

  /** As an `input_required` has them. */
  requests(): Record<string, Question> {
    return Object.fromEntries([...this.#waiting].map(([key, { question }]) => [key, question]));
  }

  /** Hands answers over. Unknown keys may be answers that came twice, or too late. */
  answer(responses: unknown): void {
    if (!isRecord(responses)) return;
    for (const [key, answer] of Object.entries(responses)) {
      const waiting = this.#waiting.get(key);
      if (!waiting || !isRecord(answer)) continue;
      this.#waiting.delete(key);
      waiting.resolve(answer as unknown as InputResult);
    }
  }

  /** Nobody will answer: a form counts as closed, the rest is refused. */
  refuse(): void {
    for (const { question, resolve, reject } of this.#waiting.values()) {
      if (question.method === "elicitation/create") resolve({ action: "cancel" });
      else reject(new NexusError("INPUT_FAILED", `${question.method} was not answered in time`));
    }
    this.#waiting.clear();
  }
}

/** A legacy server's question as the newest specification has it. */
function modernQuestion({ method, params }: Question): Question {
  if (params === undefined) return { method };
  const carried: Params = withoutReservedMeta(params);
  if (method !== "elicitation/create") return { method, params: carried };
  const { elicitationId: _id, ...rest } = carried;
  return { method, params: { mode: "form", ...rest } };
}
