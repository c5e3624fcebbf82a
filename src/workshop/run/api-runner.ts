import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { randomBytes } from "node:crypto";
import { setTimeout as timeout } from "node:timers/promises";
import { abortSignalOf, Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import { defaultInstance, instanceKey, type ServerInstance } from "../../auth/server-instance.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import { asNexusError, NexusError, messageOf } from "../../errors/nexus-error.ts";
import type { PublicOnly } from "../../net/public-only.ts";
import type { CallToolResult, LogLevel, Progress, Tool } from "../../protocol/mcp.ts";
import { isProtocolOutcome } from "../../server/features/input-needed.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { clockFunctions } from "../expression/clock.ts";
import { acceptedCall, servedTool } from "../check/served-tool.ts";
import type { Pause } from "./attempts.ts";
import { META_KEYS, failureResult, successResult, withMeta, repeatedResult } from "./call-result.ts";
import { CallTrace } from "./call-trace.ts";
import { CompletedValues } from "./completed-values.ts";
import type { CallerPrompt } from "./confirmation.ts";
import type { SaveSecret } from "./secrets/api-secrets.ts";
import { hideSecrets } from "./secrets/credentials.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import type { FindSecret } from "./secrets/secret-lookup.ts";
import { UpstreamTokens } from "./secrets/upstream-tokens.ts";
import { LOCAL_CALLER, requestKey, ledgerKey } from "./writes/request-key.ts";
import { ResultStore, type KeptResult } from "./result-store.ts";
import type { RequestRate } from "./request-rate.ts";
import type { RunnerParts, Signer } from "./runner-parts.ts";
import { settingValues, type SettingValues } from "./setting-values.ts";
import { ToolPlans, type StepsPlan } from "./steps/steps-plan.ts";
import { ToolCall, argumentsRefused, settlingHint, type CallFacts } from "./tool-call.ts";
import type { ToolPlan } from "./tool-plan.ts";
import { Upstream } from "./upstream.ts";
import { MemoryWriteLedger, type WriteLedger } from "./writes/write-ledger.ts";
import { WriteOnce } from "./writes/write-once.ts";
import { StepsRun } from "./steps/steps-run.ts";
import { stepsResult } from "./steps/steps-result.ts";

const ID_DIGITS = 16;
const IDS_AT_ONCE = 64;

export interface ApiRunnerOptions {
  /** Looks up a secret by its full name, `<server>.<name>`. */
  secrets: FindSecret;
  /** Stores a refresh token that was replaced by its use; without it, the new one is lost when the API is closed. */
  saveSecret?: SaveSecret | undefined;
  /** Access tokens that several runners of the same server share; default: its own. */
  tokens?: UpstreamTokens | undefined;
  /** The server that owns the secrets and writes; default: the name of the API. */
  instance?: ServerInstance | undefined;
  /** Values by name, as the file declares them. */
  settings?: SettingValues | undefined;
  /** An address on this machine that replaces the real upstream. */
  upstream?: string | undefined;
  /** Additional trusted certificate authorities (PEM). */
  ca?: readonly string[] | undefined;
  /** Refuses also an upstream on this machine, unless it is in `allow`; hosts in `allow` may be internal. */
  publicOnly?: PublicOnly | undefined;
  /** The ledger of writes; default: in memory. */
  ledger?: WriteLedger | undefined;
  /** Counts requests to upstream, and refuses those above the limit. */
  rate?: RequestRate | undefined;
  /** The store for results that are too large. */
  results?: ResultStore | undefined;
  /** Signers by their names in tool files. */
  signers?: Readonly<Record<string, Signer>> | undefined;
  logger?: Logger | undefined;
  /** Is told how answers differ from the file, with secrets masked. */
  onDeviations?: ((tool: string, deviations: readonly Readonly<Record<string, string>>[]) => void) | undefined;
  now?: (() => number) | undefined;
  pause?: Pause | undefined;
  /** The size limit of one response. */
  maxAnswerBytes?: number | undefined;
}

const RUNNER_OPTIONS: OptionNames<ApiRunnerOptions> = {
  secrets: true,
  saveSecret: true,
  tokens: true,
  instance: true,
  settings: true,
  upstream: true,
  ca: true,
  publicOnly: true,
  ledger: true,
  rate: true,
  results: true,
  signers: true,
  logger: true,
  onDeviations: true,
  now: true,
  pause: true,
  maxAnswerBytes: true,
};

/** Of a definition in a result. */
export const MAX_DEFINITION_BYTES = 64 * 1024;

/** The caller, and how to ask it during the call. */
export interface RunOptions {
  /** Identifies the caller: writes and kept results are separated by it. */
  caller?: string | undefined;
  signal?: CancelSignal | undefined;
  progress?: ((progress: Progress) => void) | undefined;
  log?: ((level: LogLevel, data: unknown, logger?: string) => void) | undefined;
  /** Identifies the call in logs, in its result and upstream (`X-Request-Id`); made if it is absent. */
  correlationId?: string | undefined;
  /** Absent if the caller cannot be asked. */
  asking?: CallerPrompt | undefined;
}

const RUN_OPTIONS: OptionNames<RunOptions> = {
  caller: true,
  signal: true,
  progress: true,
  log: true,
  correlationId: true,
  asking: true,
};

/** Runs the tools of one compiled API. */
export class ApiRunner implements AsyncDisposable {
  readonly api: CompiledApi;
  readonly results: ResultStore;
  readonly #parts: RunnerParts;
  readonly #closing = new Cancellation();
  readonly #ids = new CorrelationIds();
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(api: CompiledApi, options: ApiRunnerOptions) {
    checkOptions("ApiRunner", options, RUNNER_OPTIONS);
    const { file } = api;
    this.api = api;
    this.results = options.results ?? new ResultStore({ now: options.now ?? Date.now });
    const values = new CompletedValues(file, "output");
    const now = options.now ?? Date.now;
    const instance = options.instance ?? defaultInstance(file.api);
    const hidden = new HiddenValues();
    this.#parts = {
      api,
      instance,
      settings: settingValues(file, options.settings ?? {}, instance.server),
      values,
      inputs: new CompletedValues(file, "input"),
      plans: new ToolPlans(api, { values, now }),
      upstream: new Upstream(file.upstream, {
        binding: options.upstream,
        ca: options.ca,
        publicOnly: options.publicOnly,
        maxBytes: options.maxAnswerBytes,
        rate: options.rate,
        others: Object.values(file.secrets).flatMap(({ oauth }) => (oauth ? [oauth.tokenUrl] : [])),
      }),
      hidden,
      telling: {
        file,
        values,
        hidden,
        mostKept: this.results.most,
        wantsDifferences: options.onDeviations !== undefined,
      },
      writes: new WriteOnce(options.ledger ?? new MemoryWriteLedger({ now })),
      results: this.results,
      findSecret: options.secrets,
      saveSecret: options.saveSecret,
      tokens: options.tokens ?? new UpstreamTokens(),
      signers: options.signers ?? {},
      logger: options.logger ?? SILENT,
      onDeviations: options.onDeviations,
      now,
      clock: clockFunctions(now),
      pause: options.pause ?? realPause,
      closing: this.#closing,
    };
    this.#needSigners();
  }

  /** Failures are results. It throws only for an unknown tool, a cancelled call or a question to the client. */
  async call(tool: string, args: unknown, options: RunOptions = {}): Promise<CallToolResult> {
    checkOptions("a call of ApiRunner", options, RUN_OPTIONS);
    const { tools, api } = this.api.file;
    if (!Object.hasOwn(tools, tool)) throw new NexusError("NAME_UNKNOWN", `${api} has no tool ${tool}`);
    const { logger, hidden } = this.#parts;
    const {
      caller = LOCAL_CALLER,
      correlationId: correlation = this.#ids.next(),
      signal,
      progress,
      log,
      asking,
    } = options;
    const trace = new CallTrace({ api, tool, logger, hidden, correlation, progress, log });
    const meta = { [META_KEYS.correlation]: correlation };
    this.#running++;
    try {
      const result = await this.#call(tool, { caller, signal, asking, trace }).run(args);
      trace.reached(1, "Done");
      return withMeta(result, meta);
    } catch (error) {
      if (isProtocolOutcome(error)) throw error;
      if (signal?.aborted) throw cancelled(signal);
      const { code, message, hint } = asNexusError(error);
      trace.note(code === "INTERNAL" ? "error" : "warn", "The call failed before its request was sent", {
        code,
        reason: message,
      });
      return withMeta(failureResult({ text: hidden.in(`${message}.`), hint: hint && hidden.in(hint) }, hidden), meta);
    } finally {
      if (--this.#running === 0) this.#onIdle?.();
    }
  }

  /** The listed tools as clients see them, in the order of the compiled file. */
  tools(): [name: string, tool: Tool][] {
    const listed = Object.entries(this.api.file.tools).filter(([, { offer }]) => offer === undefined);
    return listed.map(([name]) => [name, servedTool(this.api, name, (args) => this.#plan(name).check(args))]);
  }

  /** Generated arguments that a tool accepts; undefined if none are found. */
  acceptedCall(tool: string): Record<string, unknown> | undefined {
    return acceptedCall(this.api.file, tool, this.#plan(tool).check);
  }

  /** Masks the secrets of this API in a text. */
  async redacted(text: string): Promise<string> {
    const { hidden, findSecret: find, api, instance } = this.#parts;
    await hideSecrets(Object.values(api.file.secrets), { server: instance.server, find, hidden });
    return hidden.in(text);
  }

  /**
   * A definition as a result, with a link to the whole if it is too large. It is in the text alone: twice it would take
   * twice the room of a model.
   */
  described(tool: string, definition: Record<string, unknown>, caller: string = LOCAL_CALLER): CallToolResult {
    const keepWhole = (whole: string) => this.results.keep(instanceKey(this.#parts.instance, caller), whole);
    const { content, _meta } = successResult({
      text: `The definition of ${tool}:`,
      structured: definition,
      deviations: [],
      maxBytes: MAX_DEFINITION_BYTES,
      keep: { keepWhole, api: this.api.file.api, tool },
    });
    return { content, ...(_meta && { _meta }) };
  }

  /** The complete result of an excerpt, for the caller of that result. */
  findResult(caller: string, id: string): KeptResult | undefined {
    return this.results.find(instanceKey(this.#parts.instance, caller), id);
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Resolves when no call is running, and no write of a call that was cancelled. */
  async idle(): Promise<void> {
    while (this.#running > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#parts.writes.idle();
    if (this.#running > 0) await this.idle();
  }

  /** Cancels running requests; the outcome of writes among them is unknown. */
  async close(): Promise<void> {
    this.#closing.abort(new NexusError("CANCELLED", "The API was closed"));
    await this.#parts.writes.idle();
    await this.#parts.upstream.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #call(tool: string, facts: CallFacts): StepsCall | ToolCall {
    const plan = this.#plan(tool);
    return plan.kind === "steps" ? new StepsCall(this.#parts, plan, facts) : new ToolCall(this.#parts, plan, facts);
  }

  #plan(tool: string): ToolPlan | StepsPlan {
    const plan = this.#parts.plans.find(tool);
    if (!plan) throw new NexusError("NAME_UNKNOWN", `${this.api.file.api} has no tool ${tool}`);
    return plan;
  }

  #needSigners(): void {
    for (const [name, { sign }] of Object.entries(this.api.file.secrets)) {
      if (typeof sign !== "string" || this.#parts.signers[sign]) continue;
      throw new NexusError("CONFIG_INVALID", `secrets.${name} is signed by "${sign}", and there is no such signer`, {
        phase: "config",
        hint: "The program that opens the API has to provide it.",
        mayHaveReached: false,
      });
    }
  }
}

function cancelled(signal: CancelSignal): NexusError {
  return new NexusError("CANCELLED", "The call was cancelled", { cause: signal.reason });
}

type Value = Record<string, unknown>;

/** One call of a tool with steps, from its arguments to its result. */
class StepsCall {
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
    return stepsResult(this.#parts, this.#plan, end, { caller, settling, signal, trace });
  }
}

/** Makes random ids of calls, many at once: asking for random bytes takes longer than to cut an id out of them. */
class CorrelationIds {
  #digits = "";
  #at = 0;

  next(): string {
    if (this.#at === this.#digits.length) {
      this.#digits = randomBytes((ID_DIGITS / 2) * IDS_AT_ONCE).toString("hex");
      this.#at = 0;
    }
    const from = this.#at;
    this.#at += ID_DIGITS;
    return `nx-${this.#digits.slice(from, this.#at)}`;
  }
}

/** Ends early if the call is cancelled; callers check the signal themselves. */
async function realPause(ms: number, signal: CancelSignal | undefined): Promise<void> {
  await timeout(ms, undefined, signal ? { signal: abortSignalOf(signal) } : {}).catch(() => {});
}
