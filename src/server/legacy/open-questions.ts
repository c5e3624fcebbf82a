import type { Deadlines, Timed } from "../../async/deadlines.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Message, Params, Request, Response } from "../../protocol/json-rpc.ts";
import type { Question } from "../../protocol/mcp.ts";

/** Where a question goes, and until when its answer is wanted. */
interface QuestionOptions {
  /** False where it cannot arrive. */
  send: (message: Message) => boolean;
  signal: AbortSignal;
}

/** What one client was asked and has not answered yet. The ids are this session's own. */
export class OpenQuestions {
  readonly #open = new Map<unknown, OpenQuestion>();
  readonly #deadlines: Deadlines;
  readonly #answerMs: number;
  #lastId = 0;
  /** Why nothing can be asked any more. */
  #over: NexusError | undefined;

  constructor(deadlines: Deadlines, answerMs: number) {
    this.#deadlines = deadlines;
    this.#answerMs = answerMs;
  }

  /** Resolves with what the client answered; rejects with INPUT_FAILED, CONNECTION_LOST, TIMEOUT, CANCELLED or CLOSED. */
  async ask({ method, params }: Question, { send, signal }: QuestionOptions): Promise<Params> {
    if (this.#over) throw this.#over;
    if (signal.aborted) throw withdrawn(method, signal);
    const id = ++this.#lastId;
    const request: Request = { jsonrpc: "2.0", id, method, ...(params ? { params } : {}) };
    // At once, while there is still a way to say so.
    const giveUp = (error: NexusError) => {
      if (this.#open.delete(id)) send(withdrawal(id, error));
      question.fail(error);
    };
    const question = new OpenQuestion(method, this.#answerMs, giveUp);
    const withdraw = () => giveUp(withdrawn(method, signal));
    signal.addEventListener("abort", withdraw, { once: true });
    this.#open.set(id, question);
    this.#deadlines.add(question);
    try {
      if (!send(request)) throw unreachable(method);
      return await question.answered;
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#deadlines.remove(question);
      this.#open.delete(id);
    }
  }

  /** False where nobody waits for such an answer. */
  settle(response: Response): boolean {
    const question = this.#open.get(response.id);
    if (!question) return false;
    this.#open.delete(response.id);
    question.answer(response);
    return true;
  }

  /** No answer can come any more. */
  close(error: NexusError): void {
    this.#over = error;
    for (const question of this.#open.values()) question.fail(error);
  }
}

class OpenQuestion implements Timed {
  slot = -1;
  readonly answered: Promise<Params>;
  readonly #method: string;
  readonly #until: number;
  readonly #giveUp: (error: NexusError) => void;
  #resolve: (result: Params) => void = () => {};
  #reject: (error: NexusError) => void = () => {};

  constructor(method: string, answerMs: number, giveUp: (error: NexusError) => void) {
    this.#method = method;
    this.#until = performance.now() + answerMs;
    this.#giveUp = giveUp;
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.answered.catch(() => {});
  }

  get remainingMs(): number {
    return this.#until - performance.now();
  }

  answer(response: Response): void {
    if ("error" in response) {
      const failure = `The client answered ${this.#method} with an error: ${response.error.message}`;
      return this.fail(new NexusError("INPUT_FAILED", failure, { rpc: response.error }));
    }
    if (isRecord(response.result)) return this.#resolve(response.result);
    this.fail(new NexusError("INPUT_FAILED", `The client's answer to ${this.#method} is not valid`));
  }

  fail(error: NexusError): void {
    this.#reject(error);
  }

  expire(): void {
    this.#giveUp(new NexusError("TIMEOUT", `The client did not answer ${this.#method} in time`));
  }

  stop(error: NexusError): void {
    this.fail(error);
  }
}

function withdrawn(method: string, signal: AbortSignal): NexusError {
  return new NexusError("CANCELLED", `${method} is no longer needed`, { cause: signal.reason as unknown });
}

function unreachable(method: string): NexusError {
  return new NexusError("CONNECTION_LOST", `${method} cannot reach the client: it closed the stream of its request`);
}

function withdrawal(requestId: number, { message: reason }: NexusError): Message {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason } };
}
