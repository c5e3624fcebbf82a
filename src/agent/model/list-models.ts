import { isRecord } from "../../json/is-record.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Network } from "../../net/network.ts";
import { hiddenValuesOf, type ProviderEndpoint } from "./provider-endpoint.ts";
import { providerFailure } from "./provider-failure.ts";
import { providerFetch } from "./provider-fetch.ts";

interface ModelListing {
  endpoint: ProviderEndpoint;
  network: Network;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The names of the models that a provider lists, sorted. */
export async function listProviderModels({ endpoint, network, timeoutMs, signal }: ModelListing): Promise<string[]> {
  const url = `${endpoint.baseUrl}/models${endpoint.type === "anthropic" ? "?limit=1000" : ""}`;
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const fetch = providerFetch({ network, endpoint, model: "", expects: "json" });
    const response = await fetch(url, {
      headers: headersFor(endpoint),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    return namesIn(await response.json());
  } catch (thrown) {
    if (signal?.aborted) throw new NexusError("CANCELLED", "The request was cancelled", { cause: signal.reason });
    if (late.aborted) throw silent(endpoint, timeoutMs);
    throw hiddenValuesOf(endpoint).inError(providerFailure(thrown, endpoint, ""));
  }
}

function headersFor({ type, apiKey, headers }: ProviderEndpoint): Record<string, string> {
  const own = { accept: "application/json", ...headers };
  if (type === "anthropic")
    return { "anthropic-version": "2023-06-01", ...(apiKey ? { "x-api-key": apiKey } : {}), ...own };
  return { ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}), ...own };
}

/** `{"data":[{"id"}]}` with all three types. */
function namesIn(answer: unknown): string[] {
  const items = isRecord(answer) && Array.isArray(answer["data"]) ? answer["data"] : [];
  const names = items.flatMap((item: unknown) =>
    isRecord(item) && typeof item["id"] === "string" ? [item["id"]] : [],
  );
  return [...new Set(names)].sort();
}

function silent({ provider, baseUrl }: ProviderEndpoint, timeoutMs: number): NexusError {
  return new NexusError("TIMEOUT", `The provider "${provider}" did not answer within ${timeoutMs} ms`, {
    phase: "request",
    url: baseUrl,
    hint: "Try again, or use a longer --timeout.",
    mayHaveReached: true,
  });
}
