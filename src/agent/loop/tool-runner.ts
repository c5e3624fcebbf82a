import { unlessAborted } from "../../async/unless-aborted.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Host } from "../../host/host.ts";
import { requireFitting } from "../../host/registry.ts";
import { isRecord } from "../../json/is-record.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import type { ConsentAnswer, ToolConsent, WantedCall } from "../consent/tool-consent.ts";
import type { ToolCallPart, ToolResultPart } from "../model/model-message.ts";
import { AgentInput } from "../questions/agent-input.ts";
import type { KeptResults } from "../tools/kept-results.ts";
import type { CallTarget, LiveTools } from "../tools/live-tools.ts";
import { modelResult, type ModelResult } from "../tools/model-result.ts";
import { nameOrigin, OWN_SERVER, type DataOrigin } from "../tools/origin.ts";
import { cancelledResult } from "./conversation-history.ts";
import type { StepOutcome, TurnEvent, TurnStep } from "./turn-event.ts";
import type { HostTool } from "../../host/visible-lists.ts";
import { sha256 } from "../../text/digest.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { calledWith, callsOthers } from "../../host/directory/access-target.ts";

interface ToolRunnerOptions {
  host: Host;
  tools: LiveTools;
  results: KeptResults;
  consent: ToolConsent;
  input: InputProvider | undefined;
  agent: string | undefined;
}

interface RunCallOptions {
  signal: AbortSignal;
  onEvent: (event: TurnEvent) => void;
}

/** One call of a model as it ended. */
export interface EndedCall {
  step: TurnStep;
  result: ToolResultPart;
}

/** How a call ended, and what the model is told. */
interface CallEnd extends ModelResult {
  outcome: StepOutcome;
  error?: string | undefined;
}

/** Runs the tool calls of a model: checks the arguments, asks for consent, calls. */
export class ToolRunner {
  readonly #options: ToolRunnerOptions;

  constructor(options: ToolRunnerOptions) {
    this.#options = options;
  }

  /** Does not throw: whatever happens is a result for the model. */
  async run(call: ToolCallPart, { signal, onEvent }: RunCallOptions): Promise<EndedCall> {
    const target = this.#options.tools.resolve(call.name, call.arguments);
    const place = placeOf(target);
    const running = new RunningCall(() =>
      onEvent({ type: "tool_start", id: call.id, ...place, arguments: target.arguments }),
    );
    const end = await this.#end(target, running, { id: call.id, signal, onEvent }).catch((error: unknown) =>
      failedEnd(asNexusError(error), place, signal),
    );
    const durationMs = running.end();
    const { outcome, content, bytes, isShortened, error } = end;
    const step: TurnStep = {
      ...place,
      arguments: target.arguments,
      outcome,
      durationMs,
      ...(error === undefined ? {} : { message: error }),
    };
    onEvent({ type: "tool_end", id: call.id, step, bytes, isShortened, ...(error === undefined ? {} : { error }) });
    if (outcome === "cancelled") return { step, result: cancelledResult(call) };
    return {
      step,
      result: { type: "tool_result", id: call.id, name: call.name, isError: outcome !== "ok", content },
    };
  }

  /** The result of a call that is not even tried. */
  refuse({ id, name, arguments: args }: ToolCallPart, why: string): EndedCall {
    const place = this.#options.tools.placeOf(name);
    const text = `${why} This one was not sent.`;
    return {
      step: { ...place, arguments: args, outcome: "error", durationMs: 0, message: text },
      result: { type: "tool_result", id, name, isError: true, content: [{ type: "text", text }] },
    };
  }

  async #end(target: CallTarget, running: RunningCall, call: RunCallOptions & { id: string }): Promise<CallEnd> {
    if (target.kind === "missing") return textEnd("error", target.message);
    if (target.kind === "own") return this.#runOwn(target, running, call);
    const { found, arguments: args } = target;
    const { name, server, tool } = found;
    requireObject(args);
    await requireFitting({ name, server, inputSchema: tool.inputSchema }, args);
    const { host, input, agent } = this.#options;
    // A call that names another tool is the call of that tool.
    const called = host.calledTool(found, args, { agent });
    const denied = await this.#decide(wantedCall(called.found, called.arguments), call.signal);
    if (denied) return denied;
    // A question takes time: what is called must be what was shown.
    const listed = this.#options.tools.find(name);
    const now = listed && host.calledTool(listed, args, { agent });
    if (
      !now ||
      definitionHash(listed) !== definitionHash(found) ||
      definitionHash(now.found) !== definitionHash(called.found)
    ) {
      return textEnd("error", `The ${nameOrigin(placeOf(target))} changed in the meantime. Nothing was sent.`);
    }
    running.start();
    const result = await this.#withReplies(server, () =>
      host.callTool(now.found, now.arguments as object, {
        signal: call.signal,
        input,
        agent,
        onProgress: ({ progress, total, message }) =>
          call.onEvent({ type: "tool_progress", id: call.id, progress, total, message }),
      }),
    );
    return this.#resultEnd(result, { server, tool: tool.name }, this.#options.results);
  }

  async #runOwn(
    { tool, arguments: args }: Extract<CallTarget, { kind: "own" }>,
    running: RunningCall,
    { signal }: RunCallOptions,
  ): Promise<CallEnd> {
    const { name, inputSchema } = tool.definition;
    requireObject(args);
    await requireFitting({ name, inputSchema }, args);
    const server = tool.serverOf?.(args);
    if (server !== undefined) {
      const annotations = { readOnlyHint: true };
      const denied = await this.#decide(
        { server, tool: name, arguments: args, annotations, definitionHash: undefined },
        signal,
      );
      if (denied) return denied;
    }
    running.start();
    const result = await this.#withReplies(server, async () => tool.run(args, { signal, input: this.#options.input }));
    return this.#resultEnd(result, tool.originOf?.(args), tool.isBounded ? undefined : this.#options.results);
  }

  /** Fails if a handler of the program replied wrongly during the call, whatever the server made of it. */
  async #withReplies(server: string | undefined, call: () => Promise<CallToolResult>): Promise<CallToolResult> {
    const { input } = this.#options;
    let wrong: NexusError | undefined;
    const result = await call().finally(() => {
      if (server !== undefined && input instanceof AgentInput) wrong = input.takeWrongReply(server);
    });
    if (wrong) throw wrong;
    return result;
  }

  /** Undefined if the call is allowed. A desk that fails has not allowed it. */
  async #decide(wanted: WantedCall, signal: AbortSignal): Promise<CallEnd | undefined> {
    // Also a desk that throws before it returns a promise.
    const deciding = (async () => this.#options.consent.decide(wanted, signal))();
    const answer = await unlessAborted(deciding, signal).catch((error: unknown): ConsentAnswer => {
      if (signal.aborted) throw error;
      return { kind: "denied", reason: messageOf(error) };
    });
    if (answer.kind === "allowed") return undefined;
    return textEnd("denied", `The call was denied, and the tool did not run. ${answer.reason}`);
  }

  #resultEnd(result: CallToolResult, origin: DataOrigin | undefined, kept: KeptResults | undefined): CallEnd {
    return { outcome: result.isError ? "tool_error" : "ok", ...modelResult(result, origin, kept) };
  }
}

/** Reports the start of a call once, and measures it from there: waiting for consent is not part of it. */
class RunningCall {
  readonly #report: () => void;
  #startedAt: number | undefined;

  constructor(report: () => void) {
    this.#report = report;
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#report();
  }

  /** A call that was never made is reported as well. */
  end(): number {
    if (this.#startedAt === undefined) this.start();
    return Math.round(performance.now() - (this.#startedAt ?? 0));
  }
}

function placeOf(target: CallTarget): { server: string; tool: string } {
  switch (target.kind) {
    case "server":
      return { server: target.found.server, tool: target.found.tool.name };
    case "own": {
      const { tool, arguments: args } = target;
      const server = isRecord(args) ? tool.serverOf?.(args) : undefined;
      return { server: server ?? OWN_SERVER, tool: tool.definition.name };
    }
    case "missing":
      return { server: target.server, tool: target.tool };
  }
}

/** Also where the schema allows more: what is sent must be what was shown. */
function requireObject(args: unknown): asserts args is Record<string, unknown> {
  if (isRecord(args)) return;
  const what = typeof args === "string" ? "valid JSON" : "an object";
  throw new NexusError("ARGUMENTS_INVALID", `The arguments are not ${what}`, { mayHaveReached: false });
}

function failedEnd(failure: NexusError, place: { server: string; tool: string }, signal: AbortSignal): CallEnd {
  if (signal.aborted) return textEnd("cancelled", failure.message);
  const outcome = failure.code === "DENIED" ? "denied" : "error";
  const sent = failure.details.mayHaveReached === false ? " Nothing was sent." : "";
  return {
    ...textEnd(outcome, `The ${nameOrigin(place)} failed: ${failure.message.replace(/\.$/, "")}.${sent}`),
    error: failure.message,
  };
}

function textEnd(outcome: StepOutcome, text: string): CallEnd {
  return { outcome, content: [{ type: "text", text }], bytes: 0, isShortened: false, error: text };
}

/** Hash of a tool's definition as it is listed. */
function definitionHash({ tool }: HostTool): string {
  return sha256(canonicalJson(tool));
}

/**
 * The call that consent is asked for. If a tool of a server of others says that it calls another one, the annotations and the
 * hash are still those of the tool itself, because nothing proves what it does.
 */
function wantedCall(found: HostTool, args: unknown): WantedCall {
  const { server, tool } = found;
  const { annotations = {} } = tool;
  const { calls } = calledWith({ kind: "tool", server, name: tool.name, ...callsOthers(tool) }, args);
  const call = { server, tool: tool.name, arguments: args, annotations, definitionHash: definitionHash(found) };
  return calls === undefined ? call : { ...call, calls };
}
