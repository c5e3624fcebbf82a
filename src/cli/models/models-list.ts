import type { KnownProvider, ModelCatalog } from "../../agent/model/model-catalog.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { exitCodeFor, failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand } from "../command/command.ts";
import { factLines, type Fact } from "../output/facts.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { openModelCatalog } from "./open-catalog.ts";

const TIMEOUT_MS = 10_000;
/** More models than this are counted, unless --verbose is given. */
const SHOWN_MODELS = 20;

/** nexus models list */
export const modelsList = defineCommand({
  usage: "nexus models list",
  description: `Lists the model providers of the configuration and of the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY), whether
each has a key, and the models it offers, as "provider:model". Keys are never shown. A provider that cannot be reached or
refuses the key is shown with the reason, and the exit code is 4.`,
  options: {},
  examples: [
    ["nexus models list", "providers, their models, and the default"],
    ["nexus models list --verbose", "all models, also of providers with many"],
    ["nexus models list --json | jq -r '.items[].models[]'", "names of models only"],
  ],

  async run(context) {
    const { out, flags, signal } = context;
    await using catalog = await openModelCatalog(context);
    const timeoutMs = flags.timeoutMs ?? TIMEOUT_MS;
    const listed = await Promise.all(catalog.providers.map((each) => look(catalog, each, timeoutMs, signal)));
    signal.throwIfAborted();
    const failures = listed.flatMap(({ error }) => error ?? []);
    if (out.json) {
      const items = listed.map(({ provider, address, models }) => {
        const { name, type, source } = provider;
        return { provider: name, type, source, ...address, models };
      });
      out.value({ default: catalog.defaultModel ?? null, items, errors: failuresForPrograms(failures) });
      return exitCodeFor(0, failures);
    }
    for (const each of listed) for (const line of linesOf(out, each, flags.verbose)) out.line(line);
    if (listed.length === 0) {
      const ignored = await catalog.ignoredNote();
      out.note(
        `No model is configured. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider: nexus models add local --url http://127.0.0.1:11434/v1 --model MODEL.` +
          (ignored === undefined ? "" : ` ${visible(ignored)}`),
      );
    } else if (catalog.defaultModel === undefined)
      out.note(
        `No model is the default. Set "models": { "default": "provider:model" }, or use nexus models add … --model NAME --default.`,
      );
    else out.line(`default: ${out.style("bold", visible(catalog.defaultModel))}`);
    return exitCodeFor(0, failures);
  },
});

interface Listed {
  provider: KnownProvider;
  /** Undefined if the provider is not complete. */
  address?: { baseUrl: string; hasKey: boolean };
  /** As `provider:model`. */
  models: string[];
  error?: NexusError;
}

async function look(
  catalog: ModelCatalog,
  provider: KnownProvider,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Listed> {
  const listed: Listed = { provider, models: provider.models.map((model) => `${provider.name}:${model}`) };
  try {
    const { baseUrl, apiKey } = await provider.endpoint();
    listed.address = { baseUrl, hasKey: apiKey !== undefined };
    const models = await catalog.list(provider, timeoutMs, signal);
    listed.models = [...new Set([...listed.models, ...models.map((model) => `${provider.name}:${model}`)])];
  } catch (error) {
    listed.error = asNexusError(error);
  }
  return listed;
}

function linesOf(out: Output, { provider, address, models, error }: Listed, isVerbose: boolean): string[] {
  const shown = isVerbose ? models : models.slice(0, SHOWN_MODELS);
  const rest = models.length - shown.length;
  const facts: Fact[] = [
    ["type", [provider.type]],
    ["from", [provider.source]],
    ["base URL", address ? [address.baseUrl] : []],
    ["key", address ? [address.hasKey ? "set" : "none"] : []],
    ["models", [...shown, ...(rest > 0 ? [`and ${pluralize(rest, "more model")}: --verbose shows all`] : [])]],
    ["problem", error ? [error.message, ...(error.hint === undefined ? [] : [error.hint])] : []],
  ];
  return [...factLines(out, provider.name, facts), ""];
}
