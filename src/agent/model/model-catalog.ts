import { boundMessage } from "../../auth/secret-origins.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { findIgnoredSection, loadSection } from "../../config/load-section.ts";
import { loadModelsSetting, type ModelsSetting } from "../../config/models-setting.ts";
import { networkRules } from "../../config/network-settings.ts";
import type { ConfigContext } from "../../config/read/places.ts";
import { NexusError, type ErrorSource } from "../../errors/nexus-error.ts";
import { loadCertificates } from "../../net/certificates.ts";
import { Network } from "../../net/network.ts";
import type { Logger } from "../../text/logger.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import {
  configuredProvider,
  environmentProvider,
  ownEndpoint,
  TYPE_FACTS,
  type KnownProvider,
} from "./configured-provider.ts";
import { listProviderModels } from "./list-models.ts";
import type { ModelProvider } from "./model-provider.ts";
import { PROVIDER_TYPES, type ProviderType } from "../../config/models-setting.ts";
import { SdkModel } from "./sdk-model.ts";

interface ModelCatalogOptions {
  surroundings: Surroundings;
  /** Default: the working folder of the process. */
  cwd?: string | undefined;
  /** Use this configuration file alone. */
  config?: string | undefined;
  secrets: SecretStore;
  logger: Logger;
}

/** How a model is opened. */
export interface ModelOpenOptions {
  /** For one answer with its waits and repetitions; default: 10 minutes. */
  timeoutMs?: number | undefined;
}

/** Types that the environment alone can describe. */
const OF_ENVIRONMENT = PROVIDER_TYPES.filter((type) => TYPE_FACTS[type].keyVariable !== undefined);

/** The models of the configuration and of the environment. */
export class ModelCatalog implements AsyncDisposable {
  /** Those of the configuration first, in its order. */
  readonly providers: readonly KnownProvider[];
  readonly #setting: ModelsSetting;
  readonly #options: ModelCatalogOptions;
  #network: Promise<Network> | undefined;

  static async load(options: ModelCatalogOptions): Promise<ModelCatalog> {
    return new ModelCatalog(options, await loadModelsSetting(contextOf(options), options.config));
  }

  private constructor(options: ModelCatalogOptions, setting: ModelsSetting) {
    const { surroundings, secrets, logger } = options;
    const onBound = (name: string, origin: string) => logger.warn(boundMessage(name, origin));
    const configured = setting.providers.map((each) => configuredProvider(each, { surroundings, secrets, onBound }));
    const others = OF_ENVIRONMENT.filter((type) => !configured.some(({ name }) => name === type));
    this.#options = options;
    this.#setting = setting;
    this.providers = [...configured, ...others.flatMap((type) => environmentProvider(type, surroundings) ?? [])];
  }

  /** The model that is used if none is chosen: `provider:model`. Undefined if there is none. */
  get defaultModel(): string | undefined {
    if (this.#setting.default) return this.#setting.default.name;
    for (const { name, type, models } of this.providers) {
      const model = models[0] ?? TYPE_FACTS[type].model;
      if (model !== undefined) return `${name}:${model}`;
    }
    return undefined;
  }

  /** A model by its name, or the default. Nothing is sent yet. */
  async open(name: string | undefined, { timeoutMs }: ModelOpenOptions = {}): Promise<ModelProvider> {
    const [provider, model] = await this.#get(name);
    return new SdkModel({
      endpoint: await provider.endpoint(),
      model,
      network: await this.#openNetwork(),
      prices: provider.prices[model],
      timeoutMs,
    });
  }

  /** The names of the models that a provider lists. */
  async list(provider: KnownProvider, timeoutMs: number, signal?: AbortSignal): Promise<string[]> {
    const endpoint = await provider.endpoint();
    return listProviderModels({ endpoint, network: await this.#openNetwork(), timeoutMs, signal });
  }

  async close(): Promise<void> {
    const network = this.#network;
    this.#network = undefined;
    // A network that could not be opened was reported by what needed it.
    await (await network?.catch(() => undefined))?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #get(name: string | undefined): Promise<[provider: KnownProvider, model: string]> {
    try {
      return this.#find(name ?? this.defaultModel ?? throwNoModel(this.providers), name === undefined);
    } catch (error) {
      const note = await this.ignoredNote();
      if (!(error instanceof NexusError) || note === undefined) throw error;
      throw error.amended({ hint: `${error.hint ?? ""} ${note}`.trim() });
    }
  }

  /** That a file of the project has models, which are ignored; undefined if there is none. */
  async ignoredNote(): Promise<string | undefined> {
    if (this.#options.config !== undefined) return undefined;
    const file = await findIgnoredSection("models", contextOf(this.#options));
    return file && `"models" in ${file} is ignored: only your own configuration may choose models.`;
  }

  #find(full: string, isDefault: boolean): [provider: KnownProvider, model: string] {
    const at = full.indexOf(":");
    const [name, model] = at === -1 ? [full, ""] : [full.slice(0, at), full.slice(at + 1)];
    const provider = this.providers.find((each) => each.name === name);
    if (at === -1 || name === "" || model === "") throw this.#incomplete(full, provider, isDefault);
    if (provider) return [provider, model];
    const type: ProviderType | undefined = OF_ENVIRONMENT.find((each) => each === name);
    // Without a key it is not in the list; the error says how to set one.
    if (type) ownEndpoint(type, type, this.#options.surroundings.variables);
    throw this.#unknown(full, { name, model, isDefault });
  }

  #incomplete(full: string, provider: KnownProvider | undefined, isDefault: boolean): NexusError {
    const known = provider ?? this.providers[0];
    const fitting = known
      ? ((provider && known.models[0]) ?? (provider ? TYPE_FACTS[known.type].model : undefined))
      : undefined;
    const example = provider
      ? `${provider.name}:${fitting ?? "MODEL"}`
      : `${known?.name ?? "anthropic"}:${full.replace(/^:/, "")}`;
    const what = isDefault ? `"models.default" is ${JSON.stringify(full)}, which` : JSON.stringify(full);
    return new NexusError(
      isDefault ? "CONFIG_INVALID" : "ARGUMENTS_INVALID",
      `${what} is not a model: write provider:model`,
      {
        phase: "config",
        source: isDefault ? this.#sourceOfDefault : undefined,
        hint: `For example ${example}. "nexus models list" shows providers and models.`,
        mayHaveReached: false,
      },
    );
  }

  #unknown(full: string, { name, model, isDefault }: { name: string; model: string; isDefault: boolean }): NexusError {
    const names = this.providers.map((provider) => provider.name);
    const near = nearestName(name, names);
    const known = names.length === 0 ? "No provider is configured." : `Known: ${names.join(", ")}.`;
    const message = isDefault
      ? `"models.default" is ${JSON.stringify(full)}, but there is no model provider "${name}"`
      : `There is no model provider "${name}"`;
    return new NexusError(isDefault ? "CONFIG_INVALID" : "NAME_UNKNOWN", message, {
      phase: "config",
      source: isDefault ? this.#sourceOfDefault : undefined,
      hint:
        near === undefined
          ? `${known} Add it to "models.providers" of the configuration.`
          : `Did you mean "${near}:${model}"?`,
      mayHaveReached: false,
    });
  }

  get #sourceOfDefault(): ErrorSource | undefined {
    const { default: given } = this.#setting;
    return given && { file: given.file, ...given.place };
  }

  #openNetwork(): Promise<Network> {
    return (this.#network ??= this.#createNetwork());
  }

  /** With the proxies and certificate authorities of all other requests. */
  async #createNetwork(): Promise<Network> {
    const { surroundings, config } = this.#options;
    const { proxy, extraCertificates } = surroundings;
    const rules = networkRules(await loadSection("network", contextOf(this.#options), config), surroundings.home);
    const ca = loadCertificates(rules?.caFiles ?? []);
    // Node adds those of NODE_EXTRA_CA_CERTS by itself where there are no others.
    return new Network({ proxy, ca: ca.length > 0 ? [...extraCertificates, ...ca] : undefined });
  }
}

function contextOf({ surroundings, cwd }: ModelCatalogOptions): ConfigContext {
  const { home, platform, variables } = surroundings;
  return { cwd: cwd ?? process.cwd(), home, platform, variables };
}

function throwNoModel(providers: readonly KnownProvider[]): never {
  const [first] = providers;
  throw new NexusError("CONFIG_INVALID", "No model is configured", {
    phase: "config",
    hint: first
      ? `Choose one with --model ${first.name}:MODEL, or set "models": { "default": "${first.name}:MODEL" } in the configuration.`
      : `Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider to "models" in ~/.nexus/mcp.json.`,
    snippet: first
      ? undefined
      : `{ "models": { "default": "local:qwen3", "providers": { "local": { "type": "openai-compatible", "baseUrl": "http://127.0.0.1:11434/v1" } } } }`,
    mayHaveReached: false,
  });
}
