import type { ModelPrices, Usage } from "./model-provider.ts";

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

export function totalTokens({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** In US dollars; undefined without prices. */
export function costOf({ inputTokens, outputTokens }: Usage, prices: ModelPrices | undefined): number | undefined {
  return prices && (inputTokens * prices.input + outputTokens * prices.output) / 1_000_000;
}
