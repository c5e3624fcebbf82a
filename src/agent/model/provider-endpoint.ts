import type { ProviderType } from "../../config/models-setting.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { maskUrl } from "../../masking/mask-words.ts";

/** Where the models of a provider are reached. */
export interface ProviderEndpoint {
  /** The name that people use: the first part of `provider:model`. */
  provider: string;
  type: ProviderType;
  /** With its version, without a slash at the end. */
  baseUrl: string;
  apiKey: string | undefined;
  headers: Readonly<Record<string, string>>;
  /** What to do if the key is wrong or missing. */
  keyHint: string;
}

/** A path whose last parts name a version, as `/v1` and `/v1beta/openai` do. */
const VERSION = /^v\d/;

/** Base URLs are written with and without `/v1`, with and without a slash at the end. */
export function normalBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw invalidBaseUrl(text, "is not an http or https address", "Use an address like http://127.0.0.1:11434/v1.");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw invalidBaseUrl(
      text,
      "has parts that a base URL cannot have",
      "Leave out user, password, query and fragment.",
    );
  }
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const path = parts.some((part) => VERSION.test(part)) ? parts : [...parts, "v1"];
  return `${url.origin}/${path.join("/")}`;
}

/** The values of a provider that are never shown. */
export function hiddenValuesOf({ apiKey, headers }: Pick<ProviderEndpoint, "apiKey" | "headers">): HiddenValues {
  return new HiddenValues([...(apiKey === undefined ? [] : [apiKey]), ...Object.values(headers)]);
}

function invalidBaseUrl(text: string, problem: string, hint: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The base URL ${JSON.stringify(maskUrl(text))} ${problem}`, {
    phase: "config",
    hint,
    mayHaveReached: false,
  });
}
