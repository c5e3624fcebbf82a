import { dirname } from "node:path";
import { boundMessage, secretFor } from "../../auth/secret-origins.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { findIgnoredSection, loadSection } from "../../config/load-section.ts";
import {
  KEY_VARIABLES,
  loadModelsSetting,
  PROVIDER_TYPES,
  type ModelsSetting,
  type ProviderType,
  type ProviderSetting,
} from "../../config/models-setting.ts";
import { networkRules } from "../../config/network-settings.ts";
import type { ConfigContext } from "../../config/read/places.ts";
import { NexusError, type ErrorSource, type ErrorDetails } from "../../errors/nexus-error.ts";
import { loadCertificates } from "../../net/certificates.ts";
import { Network } from "../../net/network.ts";
import type { Logger } from "../../text/logger.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { listProviderModels } from "./list-models.ts";
import type { ModelProvider } from "./model-provider.ts";
import { SdkModel } from "./sdk-model.ts";
import { normalBaseUrl, type ProviderEndpoint } from "./provider-endpoint.ts";
import { VariableFiller, type SecretPlaces } from "../../config/read/variables.ts";
import { findMember, plainValue, type SourceNode } from "../../source/source-node.ts";

const TYPE_FACTS: Readonly<Record<ProviderType, TypeFacts>> = {
  anthropic: {
    baseUrl: "https://api.anthropic.com/v1",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    model: "claude-sonnet-5-5",
  },
  openai: {
    baseUrl: "https://api.openai.com/v1",
    baseUrlVariable: "OPENAI_BASE_URL",
    model: "gpt-5.5",
  },
  "openai-compatible": {},
};
/** A name that is safe in a command line. */
const NAME = /^[\w.-]{1,64}$/;
/** What HTTP allows in the value of a header. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

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
const OF_ENVIRONMENT = PROVIDER_TYPES.filter((type) => KEY_VARIABLES[type] !== undefined);

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
          ? `${known} Add it with: nexus models add ${NAME.test(name) ? name : "NAME"} …`
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
      : `Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider: nexus models add local --url http://127.0.0.1:11434/v1 --model MODEL. It is kept in "models" of ~/.nexus/mcp.json.`,
    snippet: first
      ? undefined
      : `{ "models": { "default": "local:qwen3", "providers": { "local": { "type": "openai-compatible", "baseUrl": "http://127.0.0.1:11434/v1" } } } }`,
    mayHaveReached: false,
  });
}

/** A provider that can be used, and where it comes from. */
export interface KnownProvider {
  name: string;
  type: ProviderType;
  /** For people: a file, or the name of a variable. */
  source: string;
  /** The models that the configuration names. */
  models: readonly string[];
  prices: ProviderSetting["prices"];
  /** Where it is reached, and with which key. Throws where that is not complete. */
  endpoint(): Promise<ProviderEndpoint>;
}

/** What providers of each type have by themselves. */
interface TypeFacts {
  /** Where it is reached without a base URL. */
  baseUrl?: string;
  baseUrlVariable?: string;
  /** The model that is used if nothing says which one. */
  model?: string;
}

interface ProviderSurroundings {
  surroundings: Surroundings;
  secrets: SecretStore;
  /** Called when a secret is limited to the address it is sent to first. */
  onBound?: ((name: string, origin: string) => void) | undefined;
}

/** The provider of an environment variable; undefined if it is not set. */
function environmentProvider(type: ProviderType, { variables }: Surroundings): KnownProvider | undefined {
  const keyVariable = KEY_VARIABLES[type] ?? "";
  if (!variables[keyVariable]) return undefined;
  return {
    name: type,
    type,
    source: keyVariable,
    models: [],
    prices: {},
    endpoint: () => Promise.resolve(ownEndpoint(type, type, variables)),
  };
}

/** A provider of the configuration. */
function configuredProvider(setting: ProviderSetting, around: ProviderSurroundings): KnownProvider {
  const type = PROVIDER_TYPES.find((each) => each === setting.type) ?? "openai-compatible";
  return {
    name: setting.name,
    type,
    source: setting.file,
    models: setting.models,
    prices: setting.prices,
    endpoint: () => configuredEndpoint(setting, type, around),
  };
}

async function configuredEndpoint(
  setting: ProviderSetting,
  type: ProviderType,
  { surroundings, secrets, onBound }: ProviderSurroundings,
): Promise<ProviderEndpoint> {
  const { variables, platform, home } = surroundings;
  const { name, file, node } = setting;
  const sources = { variables, platform, folders: { userHome: home }, secrets, inputs: [] };
  const filler = new VariableFiller({ sources, home, fileFolder: dirname(file), secretPlaces: inProvider }, name);
  const filled = await filler.fill(node);
  const at: ErrorDetails = { phase: "config", source: { file, ...setting.place }, mayHaveReached: false };
  const [missing] = filler.unresolved;
  if (missing) {
    throw new NexusError(missing.code ?? "CONFIG_INVALID", `The provider "${name}": ${missing.what}`, {
      ...at,
      source: { file, ...missing.place },
      hint: missing.hint,
    });
  }
  const own = ownAddress(setting, filled, type, variables);
  const keyHint = `Correct "apiKey" of the provider "${name}" in ${file}. "nexus secrets set" stores a key.`;
  try {
    const baseUrl = normalBaseUrl(own.baseUrl);
    for (const secret of filler.stored.keys()) {
      await secretFor(secrets, { name: secret, origin: new URL(baseUrl).origin, mayBind: true, onBound });
    }
    const apiKey = own.apiKey?.trim();
    const endpoint = { provider: name, type, baseUrl, apiKey, headers: headersIn(filled), keyHint };
    requireSendable(endpoint);
    requireKey(endpoint, `Add "apiKey": "\${secret:${name}}" to it, and store the key: nexus secrets set ${name}`);
    return endpoint;
  } catch (error) {
    throw error instanceof NexusError ? error.with(at) : error;
  }
}

/** Its base URL is shown in lists and errors. */
const inProvider: SecretPlaces = ([key]) => (key === "apiKey" || key === "headers" ? "anywhere" : "nowhere");

/** Without a base URL of its own, a provider is that of the environment: its key goes nowhere else. */
function ownAddress(
  { name, file, place }: ProviderSetting,
  node: SourceNode,
  type: ProviderType,
  variables: Surroundings["variables"],
): { baseUrl: string; apiKey: string | undefined } {
  const [baseUrl, apiKey] = [textIn(node, "baseUrl"), textIn(node, "apiKey")];
  const facts = TYPE_FACTS[type];
  if (baseUrl !== undefined) return { baseUrl, apiKey };
  if (facts.baseUrl === undefined) {
    throw new NexusError("CONFIG_INVALID", `The provider "${name}" has no "baseUrl"`, {
      phase: "config",
      source: { file, ...place },
      hint: `Write "baseUrl": "http://127.0.0.1:11434/v1", the address of its server.`,
      mayHaveReached: false,
    });
  }
  const address = variables[facts.baseUrlVariable ?? ""] || facts.baseUrl;
  return { baseUrl: address, apiKey: apiKey ?? (variables[KEY_VARIABLES[type] ?? ""] || undefined) };
}

/** The endpoint of a provider that only the environment describes. */
function ownEndpoint(provider: string, type: ProviderType, variables: Surroundings["variables"]): ProviderEndpoint {
  const { baseUrl = "", baseUrlVariable = "" } = TYPE_FACTS[type];
  const keyVariable = KEY_VARIABLES[type] ?? "";
  const endpoint: ProviderEndpoint = {
    provider,
    type,
    baseUrl: normalBaseUrl(variables[baseUrlVariable] || baseUrl),
    apiKey: variables[keyVariable]?.trim() || undefined,
    headers: {},
    keyHint: `Set ${keyVariable} to a valid key: export ${keyVariable}=…`,
  };
  requireSendable(endpoint);
  requireKey(endpoint, `Set it: export ${keyVariable}=…`);
  return endpoint;
}

/** Refused here, because the error of a request that cannot be made would contain the value. */
function requireSendable({ provider, apiKey = "", headers, keyHint }: ProviderEndpoint): void {
  const values = [
    ["API key", apiKey] as const,
    ...Object.entries(headers).map(([name, value]) => [`header "${name}"`, value] as const),
  ];
  const [what] = values.find(([, value]) => !HEADER_VALUE.test(value.trim())) ?? [];
  if (what === undefined) return;
  const message = `The ${what} of the provider "${provider}" has characters that HTTP does not allow, such as a line break`;
  throw new NexusError("CONFIG_INVALID", message, { phase: "config", hint: keyHint, mayHaveReached: false });
}

/** Compatible servers on this machine often need no key. */
function requireKey({ provider, type, apiKey, headers }: ProviderEndpoint, hint: string): void {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (apiKey || type === "openai-compatible" || names.includes("authorization") || names.includes("x-api-key")) return;
  throw new NexusError("CONFIG_INVALID", `The provider "${provider}" has no API key`, {
    phase: "config",
    hint,
    mayHaveReached: false,
  });
}

function textIn(node: SourceNode, key: string): string | undefined {
  const value = findMember(node, key);
  const text = value && plainValue(value.node);
  return typeof text === "string" && text !== "" ? text : undefined;
}

function headersIn(node: SourceNode): Record<string, string> {
  const headers = findMember(node, "headers")?.node;
  if (headers?.kind !== "object") return {};
  return Object.fromEntries(headers.members.map(({ key, node: value }) => [key, String(plainValue(value))]));
}
