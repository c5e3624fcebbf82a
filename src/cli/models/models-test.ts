import type { ModelEvent, ModelRequest } from "../../agent/model/model-provider.ts";
import { costOf } from "../../agent/model/usage.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { durationText, waitText } from "../../text/duration.ts";
import { shorten } from "../../text/shorten.ts";
import { defineCommand } from "../command/command.ts";
import { factLines } from "../output/facts.ts";
import { openModelCatalog } from "./open-catalog.ts";

const TIMEOUT_MS = 60_000;
const QUESTION: ModelRequest = {
  messages: [{ role: "user", content: [{ type: "text", text: "Answer with the word ready." }] }],
  // Models that think before they answer need more than the word.
  maxTokens: 1_024,
};

/** nexus models test local:qwen3 */
export const modelsTest = defineCommand({
  usage: "nexus models test [provider:model]",
  description: `Sends one short request to a model and shows how long the answer took and how many tokens it cost. Without a name it tests
the default model. --timeout limits the answer (default 60s). Exit codes: 3 no model or key is configured, 4 the provider cannot be
reached, 5 it refused the request, 6 no such model, 7 too slow, 8 it refused the key.`,
  options: {},
  examples: [
    ["nexus models test", "test the default model"],
    ["nexus models test local:qwen3", "test one model"],
    ["nexus models test anthropic:claude-sonnet-5-5 --json", `{"model","text","stopReason","durationMs","usage",…}`],
  ],

  async run(context) {
    const { words, out, flags, signal } = context;
    await using catalog = await openModelCatalog(context);
    const model = await catalog.open(words[0], { timeoutMs: flags.timeoutMs ?? TIMEOUT_MS });
    const startedAt = performance.now();
    let end: Extract<ModelEvent, { type: "end" }> | undefined;
    let firstMs: number | undefined;
    for await (const event of model.stream(QUESTION, { signal })) {
      if (event.type === "wait") out.note(`${event.reason}; waiting ${waitText(event.ms)}`);
      else if (event.type === "notice") out.note(event.text);
      else if (event.type === "end") end = event;
      else firstMs ??= performance.now() - startedAt;
    }
    if (!end) throw new NexusError("INTERNAL", "The answer of the model has no end");
    if (end.stopReason === "refused") {
      throw new NexusError("SERVER_ERROR", `The provider of ${model.name} refused the content`, { phase: "request" });
    }
    const durationMs = Math.round(performance.now() - startedAt);
    const text = end.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const { stopReason, usage } = end;
    const cost = costOf(usage, model.prices);
    if (out.json) {
      const firstOutputMs = firstMs === undefined ? undefined : Math.round(firstMs);
      return out.value({ model: model.name, text, stopReason, durationMs, firstOutputMs, usage, cost });
    }
    const first = firstMs === undefined ? "" : `, first output after ${durationText(firstMs)}`;
    const lines = factLines(out, `${model.name} answers`, [
      ["answer", [shorten(text.replaceAll(/\s+/g, " ").trim() || "(no text)", 200)]],
      ["time", [`${durationText(durationMs)}${first}`]],
      ["tokens", [`${usage.inputTokens} in, ${usage.outputTokens} out`]],
      ["cost", cost === undefined ? [] : [`$${cost.toFixed(6)}`]],
    ]);
    for (const line of lines) out.line(line);
  },
});
