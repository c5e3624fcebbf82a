import type { LanguageModelV3 } from "@ai-sdk/provider";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import type { ProviderEndpoint } from "./provider-endpoint.ts";
import type { ProviderType } from "../../config/models-setting.ts";

/** The package that speaks each protocol. They are optional: only programs that use models need them. */
const PACKAGES: Readonly<Record<ProviderType, string>> = {
  anthropic: "@ai-sdk/anthropic@3",
  openai: "@ai-sdk/openai@3",
  "openai-compatible": "@ai-sdk/openai-compatible@2",
};

/** A model as the provider's package offers it. Its requests are made with `fetch`. */
export async function openLanguageModel(
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
