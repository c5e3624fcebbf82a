import { isTemporaryStatus } from "../../errors/error-traits.ts";
import { retryAfterMs } from "../../async/backoff.ts";
import { NexusError, type ErrorCode, type ErrorDetails } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { maskProse } from "../../masking/find-secrets.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { ProviderEndpoint } from "./provider-endpoint.ts";

/** An error of a provider, as an HTTP response or inside a stream. */
interface RefusedRequest {
  /** Of an error inside a stream: the status that means the same. It was not sent, so it is not shown. */
  status: number;
  isInStream?: boolean;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
  /** The address that was asked. */
  url: string;
}

/** What the bodies of all providers say, in one form. */
interface Complaint {
  message: string;
  /** Names of the error: its type and its code. */
  names: readonly string[];
}

const CONTEXT =
  /prompt is too long|context[ _](?:length|window|size)|maximum context|too many (?:input )?tokens|input is too long/i;
const CONTENT = /content[ _-](?:filter|policy|management)|safety system|blocked by|flagged/i;
const MODEL = /model/i;
const UNKNOWN = /not[ _]found|does(?: not|n't) exist|unknown|invalid model|no such|not exist|not available|^model: /i;
const NO_CREDIT = /credit balance|insufficient[ _](?:quota|credit|balance)|billing|exceeded your current quota/i;
const NO_TOOLS = /(?:not|n't) support (?:tools|function|tool)/i;
const NO_IMAGES = /(?:not|n't) support (?:image|vision|multimodal)|image input/i;
const SHOWN = 500;

/** Explains why a provider refused a request, and what to do. */
export function explainRefusal(request: RefusedRequest, endpoint: ProviderEndpoint, model: string): NexusError {
  const { status, isInStream = false } = request;
  const complaint = complaintIn(request.body);
  const said = complaint.message === "" ? "" : `: ${complaint.message}`;
  const answered = isInStream ? said : ` (HTTP ${status}${said})`;
  const { provider } = endpoint;
  const refused = (code: ErrorCode, message: string, details: ErrorDetails = {}) =>
    new NexusError(code, message, {
      phase: "request",
      status: isInStream ? undefined : status,
      url: request.url,
      mayHaveReached: true,
      ...details,
    });
  const about = (pattern: RegExp) => [complaint.message, ...complaint.names].some((text) => pattern.test(text));

  if (status === 401) {
    const what = endpoint.apiKey === undefined ? "needs an API key" : "refused the API key";
    return refused("AUTH_REQUIRED", `The provider "${provider}" ${what}${answered}`, { hint: endpoint.keyHint });
  }
  if (status === 402 || (status < 500 && about(NO_CREDIT))) {
    return refused("FORBIDDEN", `The provider "${provider}" refused the request${said}`, {
      hint: "Check the plan and the credit of your account at the provider, or use another model.",
    });
  }
  if (status === 403) {
    return refused("FORBIDDEN", `The provider "${provider}" does not allow this request${answered}`, {
      hint: `Check which models and regions your key may use. ${endpoint.keyHint}`,
    });
  }
  if (status === 429) {
    return refused("RATE_LIMITED", `The provider "${provider}" limits requests${said}`, {
      retryAfterMs: pauseAsked(request.headers),
      hint: "Wait and try again, or use another model.",
    });
  }
  if (status < 500 && about(MODEL) && about(UNKNOWN)) {
    return refused("NAME_UNKNOWN", `The provider "${provider}" has no model "${visible(model)}"`, {
      hint: `"nexus models list" shows the models of each provider.`,
    });
  }
  if ((status === 404 || status === 405) && !isInStream) {
    return refused("HTTP_STATUS", `Nothing answers at ${request.url}${answered}`, {
      hint: `Check the base URL of the provider "${provider}": ${endpoint.baseUrl}`,
      url: undefined,
    });
  }
  if (status === 413 || (status < 500 && about(CONTEXT))) {
    return refused("SERVER_ERROR", `The conversation is too long for ${provider}:${visible(model)}${said}`, {
      hint: "Start a new conversation (in a chat: /clear), use fewer tools or smaller results, or use a model with a larger context.",
    });
  }
  if (status < 500 && about(CONTENT)) {
    return refused("SERVER_ERROR", `The provider "${provider}" refused the content${said}`, {
      hint: "Change the message, or start a new conversation (in a chat: /clear) without the content it objects to.",
    });
  }
  if (status >= 300 && status < 400) {
    return refused("REDIRECT_REFUSED", `${request.url} redirects to another address (HTTP ${status})`, {
      hint: `Redirects are not followed, because they would carry the key. Correct the base URL of "${provider}".`,
    });
  }
  if (isTemporaryStatus(status)) {
    return refused("HTTP_STATUS", `The provider "${provider}" failed at ${endpoint.baseUrl}${answered}`, {
      retryAfterMs: pauseAsked(request.headers),
      hint: "Try again later, or use another model.",
    });
  }
  return refused("SERVER_ERROR", `The provider "${provider}" refused the request${answered}`, {
    hint: hintFor(about, model),
  });
}

function hintFor(about: (pattern: RegExp) => boolean, model: string): string {
  if (about(NO_TOOLS)) return `The model "${visible(model)}" cannot use tools. Choose one that can.`;
  if (about(NO_IMAGES)) return `The model "${visible(model)}" does not take images. Choose one that does.`;
  return "Check the request and the settings of the provider, or use another model.";
}

/** `{"error":{"message"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}`, or the text itself. */
function complaintIn(body: string): Complaint {
  const parsed = parse(body);
  if (!isRecord(parsed)) return { message: isPage(body) ? "" : shown(body), names: [] };
  const error = isRecord(parsed["error"]) ? parsed["error"] : parsed;
  const texts = [error["message"], parsed["error"], parsed["message"], parsed["detail"], error["type"]];
  const message = texts.find((text) => typeof text === "string") ?? "";
  return {
    message: shown(message),
    names: [error["type"], error["code"]].filter((name) => typeof name === "string"),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPage(text: string): boolean {
  return /^\s*</.test(text);
}

/** The provider's words on one line, without what looks like a credential. */
function shown(text: string): string {
  return visible(maskProse(shorten(text.trim().replaceAll(/\s+/g, " "), SHOWN)));
}

/** How long a provider asks to wait, by the headers that providers use. */
export function pauseAsked(headers: RefusedRequest["headers"], now = Date.now()): number | undefined {
  const text = (name: string) => [headers[name]].flat()[0];
  const exact = Number(text("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const seconds = text("retry-after");
  if (seconds !== undefined && /^\s*\d*\.\d+\s*$/.test(seconds)) return Number(seconds) * 1_000;
  const asked = retryAfterMs(seconds, now);
  if (asked !== undefined) return asked;
  // Limits that are used up say when they are full again.
  const resets = ["requests", "tokens", "input-tokens", "output-tokens"].flatMap((what) => {
    const ofAnthropic = `anthropic-ratelimit-${what}`;
    return [
      text(`${ofAnthropic}-remaining`) === "0" ? Date.parse(text(`${ofAnthropic}-reset`) ?? "") - now : Number.NaN,
      text(`x-ratelimit-remaining-${what}`) === "0" ? spanMs(text(`x-ratelimit-reset-${what}`) ?? "") : Number.NaN,
    ];
  });
  const known = resets.filter((ms) => Number.isFinite(ms));
  return known.length === 0 ? undefined : Math.max(0, ...known);
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `6m0s`, `1.5s`, `20ms`. */
function spanMs(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return Number.NaN;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g);
  return [...parts].reduce((sum, [, amount = "", unit = ""]) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
}
