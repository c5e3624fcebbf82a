import { randomUUID } from "node:crypto";
import type { InputContext, InputProvider } from "../../client/input.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities, InputRequest, InputResult, Question } from "../../protocol/mcp.ts";
import type { Exchange } from "../exchange.ts";
import { withoutReservedMeta } from "./upstream-meta.ts";
import { hearsOfVisits } from "./upstream-reports.ts";

/** Puts a server's questions to a legacy caller, on the stream of its call. */
export class AskingCaller implements InputProvider {
  readonly capabilities: ClientCapabilities;
  readonly #exchange: Exchange;
  readonly #answerMs: number;
  /** Pages that the caller was sent to under an id of ours. */
  readonly #visits: string[] = [];

  constructor(exchange: Exchange, { capabilities, answerMs }: { capabilities: ClientCapabilities; answerMs: number }) {
    this.#exchange = exchange;
    this.capabilities = capabilities;
    this.#answerMs = answerMs;
  }

  async handle(request: InputRequest, { signal }: InputContext): Promise<InputResult> {
    const { caller, signal: leaving } = this.#exchange;
    const question = this.#forCaller(request);
    try {
      if (!caller.ask) throw new Error("it has no stream to be asked on");
      const answer = await caller.ask(question, AbortSignal.any([signal, AbortSignal.timeout(this.#answerMs)]));
      return answer as unknown as InputResult;
    } catch (error) {
      if (signal.aborted || leaving.aborted) throw error;
      // There is no way to answer with an error; a form can be closed, the rest ends the call.
      if (question.method === "elicitation/create") return { action: "cancel" };
      throw new NexusError("INPUT_FAILED", `The client did not answer ${question.method}: ${messageOf(error)}`, {
        cause: error,
        mayHaveReached: true,
      });
    }
  }

  /** The call went on: its pages have been visited. */
  completed(): void {
    for (const elicitationId of this.#visits.splice(0)) {
      this.#exchange.caller.notify({
        jsonrpc: "2.0",
        method: "notifications/elicitation/complete",
        params: { elicitationId },
      });
    }
  }

  /** 2025-11-25 knows pages by an id, which later servers do not give. */
  #forCaller({ method, params }: Question): Question {
    if (!params) return { method };
    const carried = withoutReservedMeta(params);
    const isNameless = carried["mode"] === "url" && carried["elicitationId"] === undefined;
    if (!isNameless || !hearsOfVisits(this.#exchange.caller)) return { method, params: carried };
    const elicitationId = randomUUID();
    this.#visits.push(elicitationId);
    return { method, params: { ...carried, elicitationId } };
  }
}
