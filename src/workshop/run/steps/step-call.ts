import { throwIfAborted, type CancelSignal } from "../../../async/cancellation.ts";
import { asNexusError, messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { unpackValue } from "../apart/read-apart.ts";
import type { Tracing } from "../call-trace.ts";
import { Failure } from "../failure.ts";
import { noteDifferences } from "../noted-deviations.ts";
import { readForValue } from "../pages/read-pages.ts";
import type { RunnerParts } from "../runner-parts.ts";
import { TOO_LATE, type ToolPlan } from "../tool-plan.ts";
import { callForValue, completed, prepare, type PreparedRequest } from "../upstream-call.ts";
import { argumentsKey, ledgerKey, stepKey } from "../writes/request-key.ts";
import type { EarlierWrite } from "../writes/write-ledger.ts";
import type { SentWrite } from "../writes/write-once.ts";
import { toldDeviation } from "../call-result.ts";
import { bytesOf } from "../excerpt.ts";
import type { StepValue } from "./step-values.ts";

type Value = Record<string, unknown>;

/** One call that a step makes. */
export interface StepCall {
  plan: ToolPlan;
  step: string;
  /** Of the item, if the step is made for each item of a list. */
  index: number | undefined;
  arguments: Value;
  trace: Tracing;
  /** For reads. A write has its own time limit, so that it does not end with an unknown outcome. */
  timeoutMs: number;
}

/** How a call ended. `earlier`: an earlier run of the same call made it. */
export type StepCallOutcome =
  | { kind: "done"; value: StepValue; earlier: boolean; deviations: Record<string, string>[] }
  | { kind: "failed" | "running"; failure: Failure }
  /** `id`: under which the write is recorded. */
  | { kind: "unknown"; failure: Failure; id: string };

const FINGERPRINT = "dev.nexus/arguments";

/** Makes the calls of one run of a tool with steps. */
export class StepCaller {
  readonly #parts: RunnerParts;
  readonly #tool: string;
  /** The key of the whole call. */
  readonly #id: string;
  readonly #signal: CancelSignal | undefined;

  constructor(
    parts: RunnerParts,
    { tool, id, signal }: { tool: string; id: string; signal: CancelSignal | undefined },
  ) {
    this.#parts = parts;
    this.#tool = tool;
    this.#id = id;
    this.#signal = signal;
  }

  /** The problems of the arguments: nothing is sent. */
  refused({ plan, arguments: given }: Pick<StepCall, "plan" | "arguments">): Failure | undefined {
    const { problems } = plan.check(given);
    if (problems.length === 0) return undefined;
    const lines = problems.map((problem) => `- ${problem}`).join("\n");
    return new Failure(`Its arguments for ${plan.name} are not valid; it was not sent:\n${lines}`, {
      outcome: "refused",
    });
  }

  async read(call: StepCall): Promise<StepCallOutcome> {
    const { plan, trace, timeoutMs } = call;
    const refused = this.refused(call);
    if (refused) return { kind: "failed", failure: refused };
    const signal = this.#signal;
    const key = () => this.#keyOf(call);
    const prepared = await this.#prepared(call, key);
    if (prepared instanceof Failure) return { kind: "failed", failure: prepared };
    const limitMs = Math.min(timeoutMs, plan.spec.limits.timeoutMs);
    const read = await readForValue(this.#parts, plan, prepared, { trace, signal, timeoutMs: limitMs, key }, "step");
    throwIfAborted(signal);
    if (read.kind === "failure") return { kind: "failed", failure: read };
    noteDifferences(this.#parts, plan.name, read.differences);
    return { kind: "done", value: read, earlier: false, deviations: this.#told(call, read.deviations) };
  }

  /** The outcome of this write in an earlier run of the same call, if it was sent. */
  async earlier(call: StepCall): Promise<StepCallOutcome | undefined> {
    const record = await this.#parts.writes.recordOf(this.#ledgerKey(call));
    return record && this.#fromRecord(call, record);
  }

  /** Recorded first, and sent at most once. */
  async write(call: StepCall): Promise<StepCallOutcome> {
    const { plan, trace } = call;
    const { writes, now } = this.#parts;
    const refused = this.refused(call);
    if (refused) return { kind: "failed", failure: refused };
    const id = this.#keyOf(call);
    const prepared = await this.#prepared(call, () => id);
    if (prepared instanceof Failure) return { kind: "failed", failure: prepared };
    throwIfAborted(this.#signal);
    const until = plan.writeUntil(now());
    const send = async () => (now() < until ? this.#sent(call, prepared, id) : refusedWrite(TOO_LATE));
    const unrecorded = (error: unknown) =>
      trace.note("error", "A write was made, and could not be recorded", { reason: messageOf(error) });
    const label = `${this.#tool}, step ${nameOf(call)} (${plan.name})`;
    const sent = await writes.once<SentStep>({ key: this.#ledgerKey(call), tool: label, until, send, unrecorded });
    return "record" in sent ? this.#fromRecord(call, sent.record) : sent.ended;
  }

  /** From here on, a failure means that the write may have been sent. */
  async #sent(call: StepCall, prepared: PreparedRequest, id: string): Promise<SentStep> {
    const { plan, trace } = call;
    const facts = { trace, signal: this.#parts.closing };
    const read = await callForValue(this.#parts, plan, prepared, facts, "step");
    if (read.kind === "failure") {
      if (read.outcome === "refused") return refusedWrite(read);
      const failure = this.#unknown(plan, prepared.input, read);
      return { outcome: "unknown", lasting: { content: [] }, ended: { kind: "unknown", failure, id } };
    }
    noteDifferences(this.#parts, plan.name, read.differences);
    const value = read.kind === "value" ? read.value : unpackValue(read);
    const meta = { [FINGERPRINT]: argumentsKey(call.arguments) };
    const deviations = this.#told(call, read.deviations);
    return {
      outcome: "done",
      lasting: { content: [], structuredContent: value, _meta: meta },
      ended: { kind: "done", value: read, earlier: false, deviations },
    };
  }

  #fromRecord(call: StepCall, record: EarlierWrite): StepCallOutcome {
    const at = new Date(record.at).toISOString();
    call.trace.note("info", "This step was sent before; nothing is sent", { earlier: record.kind });
    switch (record.kind) {
      case "done":
        return this.#done(call, record.result);
      case "pending": {
        const text = `It has been running since ${at} in another run of the same call; it is not sent a second time.`;
        const hint = "Wait a little, then make the same call again: it goes on after this step.";
        return { kind: "running", failure: new Failure(text, { hint, outcome: "refused" }) };
      }
      case "unknown": {
        const id = this.#keyOf(call);
        const failure = new Failure(`It was sent at ${at}, and its outcome is not known. It is not sent again.`, {
          outcome: "unknown",
        });
        const { value } = call.plan.check(call.arguments);
        const input = completed(this.#parts, call.plan, value, () => id);
        return { kind: "unknown", failure: this.#unknown(call.plan, input, failure), id };
      }
    }
  }

  #done(
    call: StepCall,
    { structuredContent, _meta, isError }: Extract<EarlierWrite, { kind: "done" }>["result"],
  ): StepCallOutcome {
    // What a person confirmed has no answer.
    if (isError)
      return { kind: "done", value: { kind: "value", value: null, bytes: 0 }, earlier: true, deviations: [] };
    const sentWith = _meta?.[FINGERPRINT];
    if (call.index !== undefined && sentWith !== argumentsKey(call.arguments)) {
      const text =
        "An earlier run of the same call sent this item with other arguments, so the list has changed since.";
      const hint = "Find out what is there now, then make a call with other arguments for what is missing.";
      return { kind: "failed", failure: new Failure(text, { hint, outcome: "refused" }) };
    }
    const value = structuredContent ?? {};
    return { kind: "done", value: { kind: "value", value, bytes: bytesOf(value) }, earlier: true, deviations: [] };
  }

  /** With how to find out what became of it. */
  #unknown(plan: ToolPlan, input: Value, { text, hint, said }: Failure): Failure {
    const advice = [hint, plan.outcomeUnknown({ input })].filter((part) => part !== undefined).join("\n");
    return new Failure(text, { hint: advice, said, outcome: "unknown" });
  }

  async #prepared({ plan, arguments: given }: StepCall, key: () => string): Promise<PreparedRequest | Failure> {
    const { hidden } = this.#parts;
    try {
      return await prepare(this.#parts, plan, plan.check(given).value, { key, signal: this.#signal });
    } catch (error) {
      const { code, message, hint } = asNexusError(error);
      if (code === "INTERNAL" && !(error instanceof NexusError)) throw error;
      return new Failure(hidden.in(`${message}.`), { hint: hint && hidden.in(hint), outcome: "refused" });
    }
  }

  #told(call: StepCall, deviations: readonly Parameters<typeof toldDeviation>[0][]): Record<string, string>[] {
    return deviations.map((deviation) => {
      return toldDeviation({ ...deviation, path: `${nameOf(call)}.${deviation.path}` }, this.#parts.hidden);
    });
  }

  #keyOf({ step, index }: StepCall): string {
    return stepKey(this.#id, step, index ?? 0);
  }

  #ledgerKey(call: StepCall): string {
    return ledgerKey(this.#keyOf(call), this.#parts.upstream.standIn);
  }
}

interface SentStep extends Pick<SentWrite, "outcome" | "lasting"> {
  ended: StepCallOutcome;
}

function refusedWrite(failure: Failure): SentStep {
  return { outcome: "refused", lasting: { content: [] }, ended: { kind: "failed", failure } };
}

/** `lines[2]` */
function nameOf({ step, index }: StepCall): string {
  return index === undefined ? step : `${step}[${index}]`;
}
