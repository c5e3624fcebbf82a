import type { ModelProvider } from "../../agent/model/model-provider.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { CommandContext } from "../command/command.ts";
import { openModelCatalog } from "../models/open-catalog.ts";
import type { ChatModels } from "./chat-state.ts";

/** How long a person waits for a list that is only there to help. */
const LIST_MS = 5_000;

/** The models of the configuration and the environment, with the time limit of the command line. */
export async function openChatModels(context: CommandContext<object>): Promise<ChatModels & AsyncDisposable> {
  const catalog = await openModelCatalog(context);
  const { timeoutMs } = context.flags;
  const listed = catalog.providers.flatMap(({ name, models }) => models.map((model) => `${name}:${model}`));
  return {
    names: [...new Set([...(catalog.defaultModel === undefined ? [] : [catalog.defaultModel]), ...listed])],
    resolve: async (name) => {
      try {
        return await catalog.open(name, { timeoutMs });
      } catch (error) {
        throw context.out.json ? withExample(asNexusError(error)) : error;
      }
    },
    list: async (provider, signal) => {
      const asked = catalog.providers.filter(({ name }) => provider === undefined || name === provider);
      const lists = asked.map(async (each) => {
        const models = await catalog.list(each, LIST_MS, signal).catch(() => []);
        return models.map((model) => `${each.name}:${model}`);
      });
      return (await Promise.all(lists)).flat();
    },
    [Symbol.asyncDispose]: () => catalog.close(),
  };
}

/** A model by its name. Throws NAME_UNKNOWN if its provider lists others only; without a list, any name is accepted. */
export async function resolveListed(models: ChatModels, name: string, signal: AbortSignal): Promise<ModelProvider> {
  const model = await models.resolve(name);
  if (models.names.includes(name)) return model;
  const listed = await models.list(providerPart(name), signal);
  if (listed.length === 0 || listed.some((each) => isMeant(name, each))) return model;
  const near = nearestName(name, listed);
  throw new NexusError("NAME_UNKNOWN", `There is no model "${name}"`, {
    hint: `${near === undefined ? "" : `Did you mean "${near}"? `}/model lists them.`,
    mayHaveReached: false,
  });
}

/**
 * Finds a model by a part of its name among those that providers list, those of the user's own provider first. The
 * shortest name that contains the part is the plainest: others add a date, a size or a purpose.
 */
export class ListedModels {
  readonly #models: ChatModels;
  #listed: Promise<string[]> | undefined;

  constructor(models: ChatModels) {
    this.#models = models;
  }

  async find(part: string, own: ModelProvider, signal: AbortSignal): Promise<ModelProvider | undefined> {
    const fitting = (await this.#list(signal)).filter((name) => modelPart(name).toLowerCase().includes(part));
    const provider = providerPart(own.name);
    const rank = (name: string) => (providerPart(name) === provider ? 0 : 1);
    const [best] = fitting.sort((a, b) => rank(a) - rank(b) || a.length - b.length);
    return best === undefined ? undefined : this.#models.resolve(best).catch(() => undefined);
  }

  /** Read once; an empty list may be that of a provider that was away, and is read again. */
  async #list(signal: AbortSignal): Promise<string[]> {
    const listing = (this.#listed ??= this.#models.list(undefined, signal));
    const names = await listing.catch(() => []);
    if (names.length === 0) this.#listed = undefined;
    return names;
  }
}

function providerPart(name: string): string {
  return name.slice(0, name.indexOf(":"));
}

function modelPart(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Providers also accept short names: `qwen3` for `qwen3:latest`, `…-latest` and `…-0` for the newest one with a date. */
function isMeant(name: string, listed: string): boolean {
  const short = name.replace(/-(?:latest|0)$/, "");
  return listed === name || listed.startsWith(`${short}:`) || listed.startsWith(`${short}-`);
}

/** Programs get no example beside the hint, so it is part of it. */
function withExample(error: NexusError): NexusError {
  const { snippet, hint = "" } = error.details;
  return snippet === undefined ? error : error.amended({ hint: `${hint} For example: ${snippet}`.trim() });
}
