import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { maskProse } from "../../masking/find-secrets.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { ProviderEndpoint } from "./provider-endpoint.ts";
import { explainRefusal } from "./provider-refusal.ts";

/** Codes and types of errors inside a stream: the statuses of HTTP with which they come otherwise. */
const STATUSES: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  request_too_large: 413,
  not_found_error: 404,
  model_not_found: 404,
  permission_error: 403,
  billing_error: 402,
  authentication_error: 401,
  invalid_api_key: 401,
  context_length_exceeded: 400,
  content_filter: 400,
  content_policy_violation: 400,
  invalid_request_error: 400,
};

/** Anything that a provider's package throws or reports. Its own errors contain the request with the key: they are not kept. */
export function providerFailure(thrown: unknown, endpoint: ProviderEndpoint, model: string): NexusError {
  const known = nexusErrorIn(thrown);
  if (known) return known;
  if (isUnfinished(thrown)) return brokenStream(endpoint);
  const reported = reportedError(thrown);
  if (reported) {
    const body = JSON.stringify({ error: reported });
    const refused = { status: statusOf(reported), isInStream: true, headers: {}, body, url: endpoint.baseUrl };
    return explainRefusal(refused, endpoint, model);
  }
  return new NexusError(
    "PROTOCOL_VIOLATION",
    `The provider "${endpoint.provider}" sent an answer that cannot be read`,
    {
      phase: "request",
      url: endpoint.baseUrl,
      likelyCause: visible(maskProse(shorten(messageOf(thrown).split("\n")[0] ?? "", 300))),
      hint: `Check that ${endpoint.baseUrl} speaks the protocol of the type "${endpoint.type}", or use another model.`,
      mayHaveReached: true,
    },
  );
}

/** The stream ended, but not the answer. */
export function brokenStream({ provider, baseUrl }: ProviderEndpoint): NexusError {
  return new NexusError("CONNECTION_LOST", `The provider "${provider}" ended its answer before it was complete`, {
    phase: "request",
    url: baseUrl,
    hint: "Try again. If it happens often, check the proxies between here and the provider.",
    mayHaveReached: true,
  });
}

function nexusErrorIn(thrown: unknown): NexusError | undefined {
  let error = thrown;
  for (let depth = 0; depth < 8 && error instanceof Error; depth++) {
    if (error instanceof NexusError) return error;
    error = error.cause;
  }
  return undefined;
}

/** The packages say so if a stream ended without the reason why. */
function isUnfinished(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    thrown.name === "AI_InvalidResponseDataError" &&
    "data" in thrown &&
    thrown.data === undefined
  );
}

interface ReportedError extends Record<string, unknown> {
  message: string;
}

/** An error of the provider itself, which came in the stream; packages hand it on as it is or inside an error of theirs. */
function reportedError(thrown: unknown): ReportedError | undefined {
  if (isReported(thrown) && !(thrown instanceof Error)) return thrown;
  if (!isRecord(thrown) || typeof thrown["responseBody"] !== "string") return undefined;
  try {
    const body: unknown = JSON.parse(thrown["responseBody"]);
    return isReported(body) && body["name"] === undefined ? body : undefined;
  } catch {
    return undefined;
  }
}

function isReported(value: unknown): value is ReportedError {
  return isRecord(value) && typeof value["message"] === "string";
}

function statusOf({ type, code }: ReportedError): number {
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  // A code says more than its type, which is often only invalid_request_error.
  const names = [code, type].filter((name) => typeof name === "string" && Object.hasOwn(STATUSES, name));
  return STATUSES[String(names[0])] ?? 500;
}
