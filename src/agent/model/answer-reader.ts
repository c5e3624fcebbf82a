import type { LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import { isRecord } from "../../json/is-record.ts";
import { isDeeperThan, MAX_NESTING } from "../../json/nesting.ts";
import { CallIds } from "./call-ids.ts";
import type { AssistantMessage, ReasoningPart, TextPart, ToolCallPart } from "./model-message.ts";
import type { ModelEvent, ModelStopReason, Usage } from "./model-provider.ts";
import type { ProviderNames } from "./provider-names.ts";

type FinishPart = Extract<LanguageModelV3StreamPart, { type: "finish" }>;

/** Makes events, and at the end a message, of the parts that a provider's package reports. */
export class AnswerReader {
  readonly #names: ProviderNames;
  readonly #ids: CallIds;
  readonly #content: (TextPart | ReasoningPart | ToolCallPart)[] = [];
  /** Blocks that are open, by kind and id. */
  readonly #open = new Map<string, TextPart | ReasoningPart>();
  /** Calls whose arguments are not JSON: the model may have been cut off in them. */
  readonly #unclear: ToolCallPart[] = [];
  /** The last call if it has no arguments: the model may have been cut off before them. */
  #bare: ToolCallPart | undefined;
  #finish: FinishPart | undefined;

  /** `ids`: of calls that the conversation already has. */
  constructor(names: ProviderNames, ids: Iterable<string>) {
    this.#names = names;
    this.#ids = new CallIds(ids);
  }

  /** The events of one part. */
  read(part: LanguageModelV3StreamPart): ModelEvent[] {
    if (part.type === "text-delta") {
      this.#block("text", part.id).text += part.delta;
      return part.delta === "" ? [] : [{ type: "text", text: part.delta }];
    }
    if (part.type === "reasoning-start" || part.type === "reasoning-delta" || part.type === "reasoning-end") {
      return this.#reasoning(part);
    }
    // What the provider runs by itself is not asked for here.
    if (part.type === "tool-call" && !part.providerExecuted) return this.#call(part);
    if (part.type === "text-end") this.#open.delete(`text ${part.id}`);
    if (part.type === "finish") this.#finish = part;
    return [];
  }

  /** The last events; undefined if the provider did not finish its answer. */
  end(): ModelEvent[] | undefined {
    // A package that invents the end of a broken stream has no reason of the provider for it.
    if (this.#finish?.finishReason.raw === undefined) return undefined;
    const { finishReason, usage } = this.#finish;
    const isCut = finishReason.unified === "length";
    const doubtful = [...this.#unclear, ...(this.#bare ? [this.#bare] : [])];
    const kept = isCut ? [] : doubtful;
    const dropped = new Set<unknown>(isCut ? doubtful : []);
    const content = this.#content.filter((part) => !dropped.has(part) && !isEmpty(part));
    const message: AssistantMessage = { role: "assistant", content };
    const hasCalls = content.some((part) => part.type === "tool_call");
    return [
      ...kept.map((call): ModelEvent => ({ type: "tool_call", call })),
      { type: "end", stopReason: stopReason(finishReason.unified, hasCalls), usage: usageOf(usage), message },
    ];
  }

  #reasoning(
    part: Extract<LanguageModelV3StreamPart, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>,
  ): ModelEvent[] {
    const block = this.#block("reasoning", part.id);
    if (block.type === "reasoning" && part.providerMetadata) {
      block.metadata = merged(block.metadata, part.providerMetadata);
    }
    if (part.type === "reasoning-end") this.#open.delete(`reasoning ${part.id}`);
    if (part.type !== "reasoning-delta" || part.delta === "") return [];
    block.text += part.delta;
    return [{ type: "reasoning", text: part.delta }];
  }

  #block(type: "text" | "reasoning", id: string): TextPart | ReasoningPart {
    const key = `${type} ${id}`;
    const known = this.#open.get(key);
    if (known) return known;
    const block: TextPart | ReasoningPart = { type, text: "" };
    this.#open.set(key, block);
    this.#content.push(block);
    return block;
  }

  #call(part: Extract<LanguageModelV3StreamPart, { type: "tool-call" }>): ModelEvent[] {
    const parsed = argumentsOf(part.input);
    const call: ToolCallPart = {
      type: "tool_call",
      id: this.#ids.take(part.toolCallId),
      name: this.#names.tools.toOwn(part.toolName),
      arguments: this.#names.properties.keysToOwn(parsed.value),
      ...(part.providerMetadata && { metadata: part.providerMetadata }),
    };
    this.#content.push(call);
    const before = this.#bare;
    const isBare = isRecord(parsed.value) && Object.keys(parsed.value).length === 0;
    this.#bare = isBare ? call : undefined;
    if (!parsed.isJson) this.#unclear.push(call);
    const ready = [...(before ? [before] : []), ...(isBare || !parsed.isJson ? [] : [call])];
    return ready.map((each): ModelEvent => ({ type: "tool_call", call: each }));
  }
}

function argumentsOf(text: string): { value: unknown; isJson: boolean } {
  if (text.trim() === "") return { value: {}, isJson: true };
  // Could not be checked, shown, saved or sent back: all of that recurses.
  if (isDeeperThan(text, MAX_NESTING)) return { value: "(nested too deeply)", isJson: false };
  try {
    return { value: JSON.parse(text) as unknown, isJson: true };
  } catch {
    return { value: text, isJson: false };
  }
}

function isEmpty(part: TextPart | ReasoningPart | ToolCallPart): boolean {
  if (part.type === "text") return part.text === "";
  return part.type === "reasoning" && part.text === "" && part.metadata === undefined;
}

function merged(
  before: Readonly<Record<string, unknown>> | undefined,
  more: SharedV3ProviderMetadata,
): Record<string, unknown> {
  const all: Record<string, unknown> = { ...before };
  for (const [provider, own] of Object.entries(more)) {
    const known = all[provider];
    all[provider] = isRecord(known) ? { ...known, ...own } : own;
  }
  return all;
}

function stopReason(unified: FinishPart["finishReason"]["unified"], hasCalls: boolean): ModelStopReason {
  if (unified === "length") return "length";
  if (unified === "content-filter") return "refused";
  // Some servers say "stop" after calls as well.
  if (hasCalls) return "tool_calls";
  return unified === "stop" ? "end" : "other";
}

/** A provider that reports no usage is counted with 0. */
function usageOf(usage: LanguageModelV3Usage | undefined): Usage {
  return { inputTokens: count(usage?.inputTokens?.total), outputTokens: count(usage?.outputTokens?.total) };
}

function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}
