import type { CancelSignal } from "../../../async/cancellation.ts";
import { messageOf } from "../../../errors/nexus-error.ts";
import type { CallToolResult } from "../../../protocol/mcp.ts";
import { failureResult, repeatedResult } from "../call-result.ts";
import type { RunnerParts } from "../runner-parts.ts";
import { argumentsRefused, settlingHint, type CallFacts } from "../tool-call.ts";
import { ledgerKey, requestKey } from "../writes/request-key.ts";
import type { StepsPlan } from "./steps-plan.ts";
import { stepsResult } from "./steps-result.ts";
import { StepsRun } from "./steps-run.ts";

type Value = Record<string, unknown>;

/** One call of a tool with steps, from its arguments to its result. */
export class StepsCall {
  readonly #parts: RunnerParts;
  readonly #plan: StepsPlan;
  readonly #facts: CallFacts;

  constructor(parts: RunnerParts, plan: StepsPlan, facts: CallFacts) {
    this.#parts = parts;
    this.#plan = plan;
    this.#facts = facts;
  }

  async run(args: unknown): Promise<CallToolResult> {
    const { trace, caller, signal } = this.#facts;
    const { api, hidden, instance, upstream, writes } = this.#parts;
    trace.reached(0, "Checking the arguments");
    const checked = this.#plan.check(args);
    if (checked.problems.length > 0) {
      const refused = argumentsRefused(api, this.#plan, checked);
      trace.note("info", "The call failed", { reason: refused.text });
      return failureResult(refused, hidden);
    }
    const input = checked.value;
    const id = requestKey({ of: instance, tool: this.#plan.name, caller, input });
    const key = ledgerKey(id, upstream.standIn);
    return this.#plan.spec.effect === "read"
      ? this.#made(input, id, signal)
      : writes.share(key, signal, (stop) => this.#madeOnce(input, { id, key, stop }));
  }

  /** Every write is recorded by itself; the whole call when it is finished, so that a repetition gives its result. */
  async #madeOnce(
    input: Value,
    { id, key, stop }: { id: string; key: string; stop: CancelSignal },
  ): Promise<CallToolResult> {
    const { writes } = this.#parts;
    const { trace } = this.#facts;
    const earlier = await writes.recordOf(key);
    if (earlier?.kind === "done") {
      trace.note("info", "The same call was finished before; nothing is sent", { earlier: earlier.kind });
      return repeatedResult(earlier.result, earlier.at);
    }
    const result = await this.#made(input, id, stop);
    if (result.isError) return result;
    await writes.recordDone(key, result).catch((error: unknown) => {
      trace.note("error", "A call was finished, and could not be recorded", { reason: messageOf(error) });
    });
    return result;
  }

  async #made(input: Value, id: string, signal: CancelSignal | undefined): Promise<CallToolResult> {
    const { trace, caller } = this.#facts;
    const end = await new StepsRun(this.#parts, this.#plan, { input, id, signal, trace }).run();
    if (end.stopped)
      trace.note("info", "The call failed", { step: end.stopped.step, reason: end.stopped.failure.text });
    const settling = (write: string) => settlingHint(this.#parts, write);
    return stepsResult(this.#parts, this.#plan, end, { caller, settling });
  }
}
