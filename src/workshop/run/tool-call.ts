import { setImmediate as nextTurn } from "node:timers/promises";
import { throwIfAborted, type CancelSignal } from "../../async/cancellation.ts";
import { instanceKey } from "../../auth/server-instance.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { hasMoreValues } from "../../json/weight.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import type { Checked } from "../check/checker.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { SOURCE_PAYLOAD } from "../compile/json-schema.ts";
import { servedTool } from "../check/served-tool.ts";
import { failureResult, repeatedResult } from "./call-result.ts";
import type { CallTrace } from "./call-trace.ts";
import type { CallerPrompt } from "./confirmation.ts";
import { unpackValue } from "./apart/read-apart.ts";
import { readAndTell, readForValue } from "./pages/read-pages.ts";
import { noteDifferences } from "./noted-deviations.ts";
import { payloadOf, type Told, toldAnswer } from "./told-answer.ts";
import { type CallOutcome, callAndTell, completed, prepare, type PreparedRequest } from "./upstream-call.ts";
import { Failure } from "./failure.ts";
import { formerRequestKeys, ledgerKey, requestKey } from "./writes/request-key.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { TOO_LATE, type ToolPlan } from "./tool-plan.ts";
import type { EarlierWrite } from "./writes/write-ledger.ts";
import type { SentWrite } from "./writes/write-once.ts";
import { showing } from "./completed-values.ts";

type Value = Record<string, unknown>;

export interface CallFacts {
  caller: string;
  signal: CancelSignal | undefined;
  asking: CallerPrompt | undefined;
  trace: CallTrace;
}

/** The progress after the current value was read, before anything is sent. */
const LOOKED = 0.2;

/** With more arguments, each step of a call has a turn of the event loop of its own, so that others are served between. */
const MANY_VALUES = 2_000;

/** One call of one tool with a request, from its arguments to its result. */
export class ToolCall {
  readonly #parts: RunnerParts;
  readonly #plan: ToolPlan;
  readonly #facts: CallFacts;
  #wantsPayload = false;
  /** Ends the turn of the event loop, where there are many arguments. */
  #endTurn: (() => Promise<void>) | undefined;

  constructor(parts: RunnerParts, plan: ToolPlan, facts: CallFacts) {
    this.#parts = parts;
    this.#plan = plan;
    this.#facts = facts;
  }

  /** Not an async function, which would be one more to wait for. */
  run(args: unknown): Promise<CallToolResult> | CallToolResult {
    const { trace } = this.#facts;
    trace.reached(0, "Checking the arguments");
    if (hasMoreValues(args, MANY_VALUES)) return this.#runInTurns(args);
    return this.#checked(this.#plan.check(args));
  }

  async #runInTurns(args: unknown): Promise<CallToolResult> {
    this.#endTurn = () => nextTurn();
    await nextTurn();
    const checked = this.#plan.check(args);
    await nextTurn();
    throwIfAborted(this.#facts.signal);
    return this.#checked(checked);
  }

  #checked(checked: Checked): Promise<CallToolResult> | CallToolResult {
    if (checked.problems.length > 0) return this.#failed(argumentsRefused(this.#parts.api, this.#plan, checked));
    const input = this.#withoutOwn(checked.value);
    return this.#plan.spec.effect === "read" ? this.#read(input) : this.#write(input);
  }

  /** The result of another tool of the same file, before a write. */
  async #look(tool: string, args: Value): Promise<Value | Failure> {
    const plan = this.#parts.plans.find(tool);
    if (plan?.kind !== "request") throw new NexusError("CONFIG_INVALID", `There is no tool ${tool} to look with`);
    const { value, problems } = plan.check(args);
    if (problems.length > 0) return new Failure(problems.join("; "), { outcome: "refused" });
    const { signal } = this.#facts;
    const key = () => this.#keyOf(tool, value);
    const prepared = await prepare(this.#parts, plan, value, { key, signal });
    const trace = this.#facts.trace.part(0, LOOKED);
    const read = await readForValue(this.#parts, plan, prepared, { trace, signal, key }, "whole");
    throwIfAborted(signal);
    if (read.kind === "failure") return read;
    return read.kind === "value" ? read.value : unpackValue(read);
  }

  async #read(input: Value): Promise<CallToolResult> {
    const key = () => this.#keyOf(this.#plan.name, input);
    const { trace, signal } = this.#facts;
    const prepared = await prepare(this.#parts, this.#plan, input, { key, signal, endTurn: this.#endTurn });
    if (this.#endTurn) await this.#endTurn();
    const facts = { trace, signal, key, wantsPayload: this.#wantsPayload };
    const answered = await readAndTell(this.#parts, this.#plan, prepared, facts);
    throwIfAborted(signal);
    return this.#withPayload(this.#reported(prepared.input, answered.reading), answered);
  }

  async #write(input: Value): Promise<CallToolResult> {
    const { signal } = this.#facts;
    const { writes, now } = this.#parts;
    const id = this.#keyOf(this.#plan.name, input);
    if (this.#endTurn) await this.#endTurn();
    // Missing secrets are reported before the caller is asked anything.
    const how = { key: () => id, signal, endTurn: this.#endTurn };
    const first = await prepare(this.#parts, this.#plan, input, how);
    if (this.#endTurn) await this.#endTurn();
    const known = this.#plan.isKeyed ? await this.#findEarlier(input, id) : undefined;
    if (known) return known;

    const confirmed = await this.#confirm(input);
    if (confirmed instanceof Failure) return this.#failed(confirmed);
    const prepared = confirmed === input ? first : await prepare(this.#parts, this.#plan, confirmed, how);
    throwIfAborted(signal);
    if (!this.#plan.isKeyed) return (await unlessAborted(this.#send(prepared), signal)).result;
    const until = this.#plan.writeUntil(now());
    const send = async () => (now() < until ? this.#send(prepared, id) : this.#tooLate());
    const earlier = (record: EarlierWrite) => this.#earlier(record, first.input, id);
    const unrecorded = (error: unknown) => this.#unrecorded(error);
    return writes.run({ key: this.#ledgerKey(id), tool: this.#plan.name, until, signal, send, earlier, unrecorded });
  }

  /** The record of the same write, also under a key of an older version. */
  async #findEarlier(input: Value, id: string): Promise<CallToolResult | undefined> {
    const { writes, api } = this.#parts;
    const { signal } = this.#facts;
    for (const key of [id, ...formerRequestKeys(api.file.api, this.#keyed(this.#plan.name, input))]) {
      const earlier = (record: EarlierWrite) =>
        this.#earlier(
          record,
          completed(this.#parts, this.#plan, input, () => key),
          key,
        );
      const known = await writes.find({ key: this.#ledgerKey(key), signal, earlier });
      if (known) return known;
    }
    return undefined;
  }

  #ledgerKey(id: string): string {
    return ledgerKey(id, this.#parts.upstream.standIn);
  }

  async #confirm(input: Value): Promise<Value | Failure> {
    const { confirmation, spec } = this.#plan;
    if (!confirmation || !spec.confirm) return input;
    const { call } = spec.confirm;
    const { hidden } = this.#parts;
    return confirmation.confirm(input, {
      look: (args) => this.#look(call, args),
      asking: this.#facts.asking,
      show: showing(hidden, input),
      showWhole: (text) => hidden.inOwnWords(text),
    });
  }

  /** From here on, a failure means that the write may have been sent. `id`: under which it is recorded. */
  async #send(prepared: PreparedRequest, id?: string): Promise<SentWrite> {
    const { trace } = this.#facts;
    const facts = { trace, signal: this.#parts.closing, wantsPayload: this.#wantsPayload };
    const answered = await callAndTell(this.#parts, this.#plan, prepared, facts);
    const { reading } = answered;
    const outcome = reading.kind === "failure" ? reading.outcome : "done";
    const lasting = this.#reported(prepared.input, reading, id);
    return { result: this.#withPayload(lasting, answered), lasting, outcome };
  }

  #tooLate(): SentWrite {
    const result = this.#failed(TOO_LATE);
    return { result, lasting: result, outcome: "refused" };
  }

  #earlier(record: EarlierWrite, input: Value, id: string): CallToolResult {
    const { trace } = this.#facts;
    trace.note("info", "The same write was made before; nothing is sent", { earlier: record.kind });
    const at = new Date(record.at).toISOString();
    switch (record.kind) {
      case "done":
        return repeatedResult(record.result, record.at);
      case "pending":
        return this.#failed(
          new Failure(`The same call has been running since ${at}; it is not sent a second time.`, {
            hint: "Wait a little, then make the same call again: its result is that of the first call.",
            outcome: "refused",
          }),
        );
      case "unknown":
        return this.#failed(
          new Failure(`The same call was made at ${at}, and its outcome is not known. It is not sent again.`, {
            hint: [this.#plan.outcomeUnknown({ input }), ...settlingHint(this.#parts, id)].join("\n"),
            outcome: "refused",
          }),
        );
    }
  }

  #reported(input: Value, reading: CallOutcome["reading"], id?: string): CallToolResult {
    switch (reading.kind) {
      case "failure":
        return this.#failed(reading, input, id);
      case "told":
        return this.#finished(reading);
      case "success":
        return this.#finished(toldAnswer(this.#parts.telling, this.#plan, input, reading));
    }
  }

  #withPayload(result: CallToolResult, { answer, payload }: CallOutcome): CallToolResult {
    if (!this.#wantsPayload) return result;
    const shown = payload ?? (answer && payloadOf(answer, this.#parts.hidden));
    return shown ? { ...result, content: [...result.content, shown] } : result;
  }

  #finished({ result, kept, deviations, differences }: Told): CallToolResult {
    const { results, instance } = this.#parts;
    for (const [id, content] of kept) results.put(instanceKey(instance, this.#facts.caller), id, content);
    noteDifferences(this.#parts, this.#plan.name, differences);
    if (deviations.length > 0) this.#facts.trace.note("warn", "The answer is not as documented", { deviations });
    return result;
  }

  /** `input`: of a request that may have been sent. `id`: under which it is recorded. */
  #failed(failure: Failure, input?: Value, id?: string): CallToolResult {
    const { spec } = this.#plan;
    const isOpen = input !== undefined && spec.effect !== "read" && failure.outcome === "unknown";
    const settling = id === undefined ? [] : settlingHint(this.#parts, id);
    const hint = isOpen
      ? [failure.hint, this.#plan.outcomeUnknown({ input }), ...settling]
          .filter((part) => part !== undefined)
          .join("\n")
      : (failure.hint ?? failure.again);
    this.#facts.trace.note("info", "The call failed", { reason: failure.text });
    return failureResult({ text: failure.text, hint, said: failure.said }, this.#parts.hidden);
  }

  /** Removes arguments that are for this program, not for upstream. */
  #withoutOwn(value: Value): Value {
    if (!this.#plan.spec.response.sourcePayload) return value;
    const { [SOURCE_PAYLOAD]: wanted, ...input } = value;
    this.#wantsPayload = wanted === true;
    return input;
  }

  #unrecorded(error: unknown): void {
    this.#facts.trace.note("error", "A write was made, and could not be recorded", { reason: messageOf(error) });
  }

  #keyOf(tool: string, input: Value): string {
    return requestKey(this.#keyed(tool, input));
  }

  #keyed(tool: string, input: Value) {
    return { of: this.#parts.instance, tool, caller: this.#facts.caller, input };
  }
}

/** How a person records the outcome, so that the same call can be made again or is finished. */
export function settlingHint({ writes }: RunnerParts, id: string): string[] {
  if (!writes.isLasting) return [];
  return [`Once that is known, the operator of this server can run: nexus api settle ${id} --happened yes|no`];
}

export function argumentsRefused(
  api: CompiledApi,
  { name, check }: Pick<ToolPlan, "name" | "check">,
  { problems, isOnlyInside }: Checked,
): Failure {
  const { properties = {}, examples } = servedTool(api, name, check).inputSchema;
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  // Nested problems contain their names.
  const names = isOnlyInside ? [] : [`It takes: ${Object.keys(properties as Value).join(", ")}.`];
  const advice = [...names, ...(example === undefined ? [] : [`For example: ${JSON.stringify(example)}`])];
  const lines = problems.map((problem) => `- ${problem}`).join("\n");
  return new Failure(`Invalid arguments for ${name}; nothing was sent:\n${lines}`, {
    hint: advice.length === 0 ? undefined : advice.join("\n"),
    outcome: "refused",
  });
}
