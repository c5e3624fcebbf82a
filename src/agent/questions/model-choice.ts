import { isRecord } from "../../json/is-record.ts";
import type { ModelProvider } from "../model/model-provider.ts";

/** Hints beyond these have no effect on models that have to be looked for. */
const MAX_HINTS = 20;

/** Finds a model whose name contains the hint; undefined if there is none. */
export type FindModel = (hint: string) => Promise<ModelProvider | undefined>;

/**
 * The model for a sampling request. Hints are parts of names, in the order of the server's preference: the user's models
 * come first, then those that `find` knows. Of the user's models that fit, the cheapest is chosen if the server wants low
 * costs most; nothing is known about speed and intelligence, so that the first one, which is the user's choice, is used
 * otherwise.
 */
export async function chooseModel(
  models: readonly ModelProvider[],
  preferences: unknown,
  find?: FindModel,
): Promise<ModelProvider | undefined> {
  const { hints, costPriority, speedPriority, intelligencePriority } = isRecord(preferences) ? preferences : {};
  const names = hintNames(hints);
  const fitting = findHinted(models, names);
  const found = fitting || !find ? undefined : await findFirst(names, find);
  if (found) return found;
  const others = Math.max(priority(speedPriority), priority(intelligencePriority));
  const choices = fitting ?? models;
  return priority(costPriority) > others ? cheapest(choices) : choices[0];
}

function hintNames(hints: unknown): string[] {
  return (Array.isArray(hints) ? hints : []).flatMap((hint: unknown) => {
    const name = isRecord(hint) ? hint["name"] : undefined;
    return typeof name === "string" && name.trim() !== "" ? [name.trim().toLowerCase()] : [];
  });
}

function findHinted(models: readonly ModelProvider[], names: readonly string[]): readonly ModelProvider[] | undefined {
  for (const name of names) {
    const fitting = models.filter((model) => model.name.toLowerCase().includes(name));
    if (fitting.length > 0) return fitting;
  }
  return undefined;
}

async function findFirst(names: readonly string[], find: FindModel): Promise<ModelProvider | undefined> {
  for (const name of names.slice(0, MAX_HINTS)) {
    const found = await find(name);
    if (found) return found;
  }
  return undefined;
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
