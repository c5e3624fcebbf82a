import { isRecord } from "../../json/is-record.ts";
import type { ModelProvider } from "../model/model-provider.ts";

/**
 * The model for a sampling request. Hints are parts of names, in the order of the server's preference. Of the models that fit,
 * the cheapest is chosen if the server wants low costs most; nothing is known about speed and intelligence, so that the first
 * one, which is the user's choice, is used otherwise.
 */
export function chooseModel(models: readonly ModelProvider[], preferences: unknown): ModelProvider | undefined {
  const { hints, costPriority, speedPriority, intelligencePriority } = isRecord(preferences) ? preferences : {};
  const fitting = hinted(models, hints);
  const others = Math.max(priority(speedPriority), priority(intelligencePriority));
  return priority(costPriority) > others ? cheapest(fitting) : fitting[0];
}

function hinted(models: readonly ModelProvider[], hints: unknown): readonly ModelProvider[] {
  const names = (Array.isArray(hints) ? hints : []).flatMap((hint: unknown) => {
    const name = isRecord(hint) ? hint["name"] : undefined;
    return typeof name === "string" && name.trim() !== "" ? [name.trim().toLowerCase()] : [];
  });
  for (const name of names) {
    const fitting = models.filter((model) => model.name.toLowerCase().includes(name));
    if (fitting.length > 0) return fitting;
  }
  return models;
}

/** Only among models whose prices are known; without any, the first one. */
function cheapest(models: readonly ModelProvider[]): ModelProvider | undefined {
  let best: { model: ModelProvider; price: number } | undefined;
  for (const model of models) {
    const price = model.prices && model.prices.input + model.prices.output;
    if (price !== undefined && (!best || price < best.price)) best = { model, price };
  }
  return best?.model ?? models[0];
}

function priority(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : 0;
}
