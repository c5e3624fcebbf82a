import type { ErrorCode } from "../../errors/nexus-error.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";

export interface GatewayClientOptions {
  /** Any address of the gateway: `https://gateway.example`. */
  url: string;
  key: string;
  signal: AbortSignal;
}

/** Requests to the REST API of a gateway. */
export class GatewayClient {
  readonly #options: GatewayClientOptions;

  constructor(options: GatewayClientOptions) {
    this.#options = options;
  }

  /** `path` is below `/api/v1`. Throws what the gateway says, or CONNECTION_FAILED. */
  async send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { url, key, signal } = this.#options;
    const target = new URL(`/api/v1${path}`, url);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    // The key is not sent anywhere else.
    const request = { method, headers, signal, redirect: "error" as const, ...sent };
    const response = await fetch(target, request).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachable(target, error);
    });
    const value = parseJson(await response.text());
    if (response.ok) return value as T;
    throw failure(target, response.status, value);
  }

  /** All pages of a list. */
  async list<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page: { items: T[]; next: string | null } = await this.send("GET", `${path}?limit=500${query}`);
      items.push(...page.items);
      cursor = page.next;
    }
    return items;
  }
}

/** Codes of the REST API that this program does not have. */
const OTHER_CODES: Readonly<Record<string, ErrorCode>> = { CONFLICT: "ARGUMENTS_INVALID", RATE_LIMITED: "BUSY" };

function failure({ origin }: URL, status: number, value: unknown): NexusError {
  if (!isRecord(value) || typeof value["detail"] !== "string" || typeof value["code"] !== "string") {
    return new NexusError("HTTP_STATUS", `${origin} answered with HTTP ${status}, but not as a Nexus gateway`, {
      url: origin,
      status,
      hint: "Check the address of --gateway.",
      mayHaveReached: true,
    });
  }
  const { detail, code, hint } = value;
  const known = OTHER_CODES[code] ?? (code as ErrorCode);
  return new NexusError(known, detail, { url: origin, status, hint: typeof hint === "string" ? hint : undefined });
}

function unreachable({ origin }: URL, error: unknown): NexusError {
  const { cause } = error as Error;
  return new NexusError(
    "CONNECTION_FAILED",
    `The gateway ${origin} could not be reached: ${messageOf(cause ?? error)}`,
    {
      url: origin,
      hint: "Check the address of --gateway, and that the gateway runs.",
      cause: error,
      mayHaveReached: false,
    },
  );
}
