import { expect, test } from "vitest";
import { openOpenAiFake } from "../../../test/fixtures/providers/openai-fake.ts";
import { failure } from "../../../test/fixtures/failure.ts";
import { Network } from "../../net/network.ts";
import { listProviderModels } from "./list-models.ts";
import { normalBaseUrl } from "./provider-endpoint.ts";

test("a key that a provider repeats in the error of its list is masked", async () => {
  const key = "plain words as a key";
  await using fake = await openOpenAiFake();
  fake.key = undefined;
  fake.listing = () => ({ status: 400, body: { error: { message: `Not with ${key}` } } });
  const network = new Network();
  try {
    const endpoint = {
      provider: "fake",
      type: "openai",
      baseUrl: normalBaseUrl(fake.url),
      apiKey: key,
      headers: {},
      keyHint: "Set another key.",
    } as const;
    const error = await failure(listProviderModels({ endpoint, network, timeoutMs: 60_000 }));
    expect(error.message).toContain("Not with");
    expect(JSON.stringify([error.message, error.details])).not.toContain(key);
  } finally {
    await network.close();
  }
});
