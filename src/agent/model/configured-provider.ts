import { dirname } from "node:path";
import { secretFor } from "../../auth/secret-origins.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { type ProviderSetting, PROVIDER_TYPES, type ProviderType } from "../../config/models-setting.ts";
import type { SecretPlaces } from "../../config/read/secret-places.ts";
import { VariableFiller } from "../../config/read/variables.ts";
import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import { findMember, plainValue, type SourceNode } from "../../source/source-node.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { normalBaseUrl, type ProviderEndpoint } from "./provider-endpoint.ts";

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
  keyVariable?: string;
  baseUrlVariable?: string;
  /** The model that is used if nothing says which one. */
  model?: string;
}

export const TYPE_FACTS: Readonly<Record<ProviderType, TypeFacts>> = {
  anthropic: {
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    model: "claude-sonnet-5-5",
  },
  openai: {
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    baseUrlVariable: "OPENAI_BASE_URL",
    model: "gpt-5.5",
  },
  "openai-compatible": {},
};

export interface ProviderSurroundings {
  surroundings: Surroundings;
  secrets: SecretStore;
  /** Called when a secret is limited to the address it is sent to first. */
  onBound?: ((name: string, origin: string) => void) | undefined;
}

/** The provider of an environment variable; undefined if it is not set. */
export function environmentProvider(type: ProviderType, { variables }: Surroundings): KnownProvider | undefined {
  const { keyVariable = "" } = TYPE_FACTS[type];
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
export function configuredProvider(setting: ProviderSetting, around: ProviderSurroundings): KnownProvider {
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
  return { baseUrl: address, apiKey: apiKey ?? (variables[facts.keyVariable ?? ""] || undefined) };
}

/** The endpoint of a provider that only the environment describes. */
export function ownEndpoint(
  provider: string,
  type: ProviderType,
  variables: Surroundings["variables"],
): ProviderEndpoint {
  const { baseUrl = "", keyVariable = "", baseUrlVariable = "" } = TYPE_FACTS[type];
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

/** What HTTP allows in the value of a header. */
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

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
