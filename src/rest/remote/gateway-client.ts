import type { ErrorCode } from "../../errors/nexus-error.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";

export interface RemoteOptions {
  /** Any address of the gateway: `https://gateway.example`. */
  url: string;
  key: string;
  signal: AbortSignal;
}

/** The most items that the REST API answers at once. */
export const MAX_PAGE = 500;

/** Requests to the REST API of a gateway. */
export class RemoteClient {
  readonly #options: RemoteOptions;

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  /** `path` is below `/api/v1`. Throws what the gateway says, or CONNECTION_FAILED. */
  async send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { target, response } = await this.#request(method, path, body);
    const value = parseJson(await response.text());
    if (response.ok) return value as T;
    throw failure(target, response.status, value);
  }

  /** An answer of many lines, some whole lines at a time. */
  async *lines(path: string): AsyncGenerator<string> {
    const { target, response } = await this.#request("GET", path);
    if (!response.ok) throw failure(target, response.status, parseJson(await response.text()));
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of response.body ?? []) {
        const text = rest + decoder.decode(chunk as Uint8Array, { stream: true });
        const end = text.lastIndexOf("\n") + 1;
        rest = text.slice(end);
        if (end > 0) yield text.slice(0, end);
      }
    } catch (error) {
      this.#options.signal.throwIfAborted();
      throw unreachable(target, error);
    }
  }

  /** Who the key belongs to. */
  session(): Promise<{ tenant: string; allTenants: boolean }> {
    return this.send("GET", "/session");
  }

  /** The names of the tenants that the key manages. */
  async managedTenants(): Promise<string[]> {
    const { tenant, allTenants } = await this.session();
    return allTenants ? (await this.list<{ name: string }>("/tenants")).map(({ name }) => name) : [tenant];
  }

  async #request(method: string, path: string, body?: unknown): Promise<{ target: URL; response: Response }> {
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
    return { target, response };
  }

  /** All pages of a list. */
  async list<T>(path: string, query: QueryValues = {}): Promise<T[]> {
    const items: T[] = [];
    let cursor: string | undefined;
    do {
      const page: { items: T[]; next: string | null } = await this.send(
        "GET",
        `${path}${queryText({ ...query, limit: MAX_PAGE, cursor })}`,
      );
      items.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return items;
  }
}

type QueryValues = Readonly<Record<string, string | number | undefined>>;

/** The query of a request: `?a=b`, or nothing. */
export function queryText(values: QueryValues): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** Codes of the REST API that this program does not have. */
const OTHER_CODES: Readonly<Record<string, ErrorCode>> = { CONFLICT: "ARGUMENTS_INVALID" };

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
  // Those of an unknown name and of a key are about requests, not about commands.
  const isForPeople = typeof hint === "string" && known !== "NAME_UNKNOWN" && status !== 401;
  return new NexusError(known, detail, { url: origin, status, hint: isForPeople ? hint : hintFor(status) });
}

function hintFor(status: number): string | undefined {
  if (status === 401)
    return `Put a valid key into the variable NEXUS_KEY. On the machine of the gateway, "nexus keys list" shows all keys.`;
  if (status === 403)
    return `Use a key that may do this: an admin of the gateway makes one with "nexus keys create NAME --role ROLE".`;
  return undefined;
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
