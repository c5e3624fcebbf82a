import { setTimeout as sleep } from "node:timers/promises";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { NexusError, messageOf } from "../../errors/nexus-error.ts";
import type { Network } from "../../net/network.ts";
import { waitText, durationText } from "../../text/duration.ts";
import { AnswerReader } from "./answer-reader.ts";
import { listProviderModels } from "./list-models.ts";
import type {
  ModelCallOptions,
  ModelEvent,
  ModelPrices,
  ModelProvider,
  ModelRequest,
  ModelTool,
} from "./model-provider.ts";
import { hiddenValuesOf, type ProviderEndpoint } from "./provider-endpoint.ts";
import type { ProviderType } from "../../config/models-setting.ts";
import { brokenStream, providerFailure } from "./provider-failure.ts";
import { providerFetch, type ProviderFetch } from "./provider-fetch.ts";
import { providerCall } from "./provider-prompt.ts";
import { RefusedTools } from "./refused-tools.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { withJitter, growingPause } from "../../async/backoff.ts";
import { isTemporaryStatus } from "../../errors/error-traits.ts";
import { SafeNames, type ProviderNames } from "./provider-names.ts";

const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;
const ANY = /^/;

const PAUSES = { firstMs: 500, longestMs: 8_000 };
const SHORTEST_PAUSE_MS = 100;
/** After this many failures a provider that is away is not asked again. */
const MAX_FAILURES = 3;
/** After this many refusals of a provider that limits requests. */
const MAX_LIMITED = 10;

interface SdkModelOptions {
  endpoint: ProviderEndpoint;
  model: string;
  network: Network;
  prices?: ModelPrices | undefined;
  /** For one answer with its waits and repetitions; default: 10 minutes. */
  timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 600_000;
const SILENCE_MS = 180_000;
/** Requests that are repeated in one answer because a tool in them was refused. */
const MAX_REFUSED_TOOLS = 20;
/** More tools are refused. */
const MAX_TOOLS: Partial<Record<ProviderType, number>> = { openai: 128 };
/** To look up the names of models after one was unknown. */
const LOOK_UP_MS = 5_000;

/** A model of a provider whose protocol a package of the AI SDK speaks. Waiting, repeating and errors are ours. */
export class SdkModel implements ModelProvider {
  readonly name: string;
  readonly prices: ModelPrices | undefined;
  readonly maxTools: number | undefined;
  readonly #options: SdkModelOptions;
  readonly #refused = new RefusedTools();

  constructor(options: SdkModelOptions) {
    this.#options = options;
    this.name = `${options.endpoint.provider}:${options.model}`;
    this.prices = options.prices;
    this.maxTools = MAX_TOOLS[options.endpoint.type];
  }

  async *stream(request: ModelRequest, { signal }: ModelCallOptions = {}): AsyncGenerator<ModelEvent, void, undefined> {
    const { endpoint, timeoutMs = TIMEOUT_MS } = this.#options;
    const limits = { timeoutMs, silenceMs: Math.min(SILENCE_MS, timeoutMs) };
    const clock = new AnswerClock(this.name, limits, signal);
    const hidden = hiddenValuesOf(endpoint);
    try {
      for (let failures = 1, refusals = 0, waitedMs = 0; ; failures++) {
        let hasOutput = false;
        let refusal: string | undefined;
        const onRefusal = (body: string) => (refusal = body);
        try {
          for await (const event of this.#attempt(request, { clock, onRefusal })) {
            hasOutput = true;
            yield event;
          }
          return;
        } catch (thrown) {
          clock.rest();
          const error = clock.signal.aborted ? clock.signal.reason : this.#failure(thrown);
          const odd = this.#refusedTool(error, refusal, request);
          if (odd && !hasOutput && refusals++ < MAX_REFUSED_TOOLS) {
            failures--;
            if (odd.isLeftOut) yield leftOut(odd.tool, endpoint);
            continue;
          }
          const pause = hasOutput || clock.signal.aborted ? undefined : pauseAfter(error, failures);
          if (pause === undefined) throw hidden.inError(await this.#withNearestName(error, clock));
          if (pause > clock.leftMs)
            throw hidden.inError(noTimeLeft(error, { pause, tries: failures, waitedMs, timeoutMs }));
          waitedMs += pause;
          yield { type: "wait", ms: Math.ceil(pause), reason: hidden.in(error.message) };
          await sleep(pause, undefined, { signal: clock.signal }).catch(() => {
            throw clock.signal.reason;
          });
        }
      }
    } finally {
      clock.close();
    }
  }

  async *#attempt(
    request: ModelRequest,
    { clock, onRefusal }: { clock: AnswerClock; onRefusal: (body: string) => void },
  ): AsyncGenerator<ModelEvent, void, undefined> {
    const { endpoint, model, network } = this.#options;
    clock.signal.throwIfAborted();
    const fetch = providerFetch({ network, endpoint, model, expects: "events", onActivity: clock.hear, onRefusal });
    const languageModel = await openLanguageModel(endpoint, model, fetch);
    const names = providerNames(endpoint.type);
    const call = providerCall(request, { taker: { type: endpoint.type, model }, names, refused: this.#refused });
    const reader = new AnswerReader(names, callIdsOf(request));
    clock.hear();
    const { stream } = await languageModel.doStream({ ...call, abortSignal: clock.signal });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      yield* reader.read(part);
    }
    clock.rest();
    const last = reader.end();
    if (!last) throw brokenStream(endpoint);
    yield* last;
  }

  #failure(thrown: unknown): NexusError {
    return providerFailure(thrown, this.#options.endpoint, this.#options.model);
  }

  /** The tool because of which the provider refused the request, if it names one. */
  #refusedTool({ code }: NexusError, body: string | undefined, { tools = [] }: ModelRequest) {
    return code === "SERVER_ERROR" && body !== undefined ? this.#refused.note(body, tools) : undefined;
  }

  /** For an unknown model: which one was probably meant, if the provider lists its models. */
  async #withNearestName(error: NexusError, { signal, leftMs }: AnswerClock): Promise<NexusError> {
    if (error.code !== "NAME_UNKNOWN") return error;
    const { endpoint, model, network } = this.#options;
    let listed: readonly string[] = [];
    try {
      const timeoutMs = Math.ceil(Math.min(LOOK_UP_MS, leftMs));
      listed = await listProviderModels({ endpoint, network, timeoutMs, signal });
    } catch {
      // The error itself says enough.
    }
    const near = nearestName(model, listed);
    return near === undefined
      ? error
      : error.amended({ hint: `Did you mean "${endpoint.provider}:${near}"? ${error.hint}` });
  }
}

function callIdsOf({ messages }: ModelRequest): string[] {
  return messages.flatMap(({ role, content }) =>
    role === "assistant" ? content.flatMap((part) => (part.type === "tool_call" ? [part.id] : [])) : [],
  );
}

function leftOut({ name }: ModelTool, { provider }: ProviderEndpoint): ModelEvent {
  return { type: "notice", text: `The provider "${provider}" does not accept the tool ${name}. It is left out.` };
}

interface Waiting {
  /** Until the next try. */
  pause: number;
  tries: number;
  waitedMs: number;
  timeoutMs: number;
}

function noTimeLeft(error: NexusError, { pause, tries, waitedMs, timeoutMs }: Waiting): NexusError {
  const limit = `the time limit of ${waitText(timeoutMs)}`;
  if (error.details.retryAfterMs === undefined) {
    const tried = tries === 1 ? "1 try" : `${tries} tries`;
    const hint = `After ${tried} and ${waitText(waitedMs)} of waiting, ${limit} leaves no time for another try. Try again later, use a longer --timeout, or use another model.`;
    return error.amended({ hint });
  }
  const longer = pause > timeoutMs ? limit : `the rest of ${limit}`;
  const hint = `The provider asks to wait ${waitText(pause)}, which is longer than ${longer}. Try again after that time, use a longer --timeout, or use another model.`;
  return error.amended({ retryAfterMs: pause, hint });
}

/** The package that speaks each protocol. They are optional: only programs that use models need them. */
const PACKAGES: Readonly<Record<ProviderType, string>> = {
  anthropic: "@ai-sdk/anthropic@3",
  openai: "@ai-sdk/openai@3",
  "openai-compatible": "@ai-sdk/openai-compatible@2",
};

/** A model as the provider's package offers it. Its requests are made with `fetch`. */
async function openLanguageModel(
  endpoint: ProviderEndpoint,
  model: string,
  fetch: ProviderFetch,
): Promise<LanguageModelV3> {
  const { provider, type, baseUrl: baseURL, apiKey, headers } = endpoint;
  const shared = { baseURL, headers: { ...headers }, fetch };
  switch (type) {
    case "anthropic": {
      const { createAnthropic } = await loaded(type, () => import("@ai-sdk/anthropic"));
      return createAnthropic({ ...shared, apiKey: apiKey ?? "" })(model);
    }
    case "openai": {
      const { createOpenAI } = await loaded(type, () => import("@ai-sdk/openai"));
      // Compatible servers offer chat completions, not the newer protocol.
      return createOpenAI({ ...shared, apiKey: apiKey ?? "" }).chat(model);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await loaded(type, () => import("@ai-sdk/openai-compatible"));
      const key = apiKey === undefined ? {} : { apiKey };
      return createOpenAICompatible({ ...shared, ...key, name: provider, includeUsage: true })(model);
    }
  }
}

async function loaded<T>(type: ProviderType, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const [name = ""] = /^@[^@]+/.exec(PACKAGES[type]) ?? [];
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND";
    throw new NexusError(
      "CONFIG_INVALID",
      isMissing
        ? `Models of the type "${type}" need the package ${name}, which is not installed`
        : `The package ${name} cannot be loaded: ${messageOf(cause)}`,
      {
        phase: "config",
        hint: `Install it beside Nexus: npm install ${PACKAGES[type]} (with -g if Nexus is installed globally).`,
        cause,
        mayHaveReached: false,
      },
    );
  }
}

interface AnswerLimits {
  /** For one answer with its waits and repetitions. */
  timeoutMs: number;
  /** Without a single byte. */
  silenceMs: number;
}

/** The time of one answer. Its signal is aborted when the time is over, nothing arrives for too long, or the caller stops. */
class AnswerClock {
  readonly #controller = new AbortController();
  readonly #name: string;
  readonly #limits: AnswerLimits;
  readonly #caller: AbortSignal | undefined;
  readonly #end: number;
  readonly #timer: NodeJS.Timeout;
  #silence: NodeJS.Timeout | undefined;

  constructor(name: string, limits: AnswerLimits, caller: AbortSignal | undefined) {
    this.#name = name;
    this.#limits = limits;
    this.#caller = caller;
    const { timeoutMs } = limits;
    this.#end = performance.now() + timeoutMs;
    this.#timer = setTimeout(
      () => this.#stop(this.#late(`${name} did not finish its answer within ${durationText(timeoutMs)}`)),
      timeoutMs,
    );
    caller?.addEventListener("abort", this.#cancel, { once: true });
    if (caller?.aborted) this.#cancel();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get leftMs(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /** Something arrived, or a request begins. */
  readonly hear = (): void => {
    clearTimeout(this.#silence);
    if (this.signal.aborted) return;
    const { silenceMs } = this.#limits;
    this.#silence = setTimeout(
      () => this.#stop(this.#late(`${this.#name} sent nothing for ${durationText(silenceMs)}`)),
      silenceMs,
    );
  };

  /** Nothing is expected, because the request is over. */
  rest(): void {
    clearTimeout(this.#silence);
  }

  /** Ends whatever still runs. */
  close(): void {
    this.#stop(new NexusError("CANCELLED", "The answer is no longer needed"));
  }

  readonly #cancel = (): void => {
    this.#stop(new NexusError("CANCELLED", "The request to the model was cancelled", { cause: this.#caller?.reason }));
  };

  #late(message: string): NexusError {
    return new NexusError("TIMEOUT", message, {
      phase: "request",
      hint: "Try again, use a longer --timeout, or use another model.",
      mayHaveReached: true,
    });
  }

  #stop(reason: NexusError): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#caller?.removeEventListener("abort", this.#cancel);
    this.#controller.abort(reason);
  }
}

/** How long to wait before the same request is made again; undefined if that is useless. */
function pauseAfter({ code, details }: NexusError, failures: number): number | undefined {
  const isPassing = code === "HTTP_STATUS" ? isServerFault(details.status) : isUnreachable(code);
  const isLimited = code === "RATE_LIMITED";
  if (!isLimited && !isPassing) return undefined;
  if (failures >= (isLimited ? MAX_LIMITED : MAX_FAILURES)) return undefined;
  return Math.max(SHORTEST_PAUSE_MS, details.retryAfterMs ?? withJitter(growingPause(failures - 1, PAUSES)));
}

/** A fault that is reported inside a stream has no status. */
function isServerFault(status: number | undefined): boolean {
  return status === undefined || isTemporaryStatus(status);
}

function isUnreachable(code: NexusError["code"]): boolean {
  return code === "CONNECTION_FAILED" || code === "CONNECTION_LOST";
}

function providerNames(type: ProviderType): ProviderNames {
  return { tools: new SafeNames(), properties: new SafeNames(type === "anthropic" ? PROPERTY : ANY) };
}
