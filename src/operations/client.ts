import { asNexusError, messageOf, NexusError, type ErrorCode } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import { parseJson } from "../json/parse-json.ts";
import { asText } from "../text/as-text.ts";
import type { Actor } from "./actor.ts";
import { MAX_PAGE, type Page } from "./forms.ts";
import { PLAIN_HINTS, withCommandHint } from "./hint-words.ts";
import { readInput, type InvalidMember } from "./input.ts";
import type { AnyOperation, AskedInput, DefinedOperation } from "./operation.ts";
import type { OperationRunner } from "./run-operation.ts";
import type { Services } from "./services.ts";
import { getSession } from "./session.ts";
import { TENANTS } from "./tenants.ts";

/** Does operations: with an opened store as the local account, or at a gateway over HTTP. */
export abstract class OperationClient {
  readonly #again: string;

  /** `again`: the options that select the same gateway or database, for commands to copy. */
  protected constructor(again: string) {
    this.#again = again;
  }

  async call<Path extends string, In, Out>(
    operation: DefinedOperation<Path, In, Out>,
    input: AskedInput<Path, In>,
  ): Promise<Out> {
    // The operation answers in its form, also at a gateway elsewhere.
    return (await this.#asked(operation, input)) as Out;
  }

  /** All pages of a list. */
  async list<Path extends string, In, Item>(
    operation: DefinedOperation<Path, In, Page<Item>>,
    input: AskedInput<Path, In>,
  ): Promise<Item[]> {
    return (await this.pages(operation, input)).flatMap(({ items }) => items);
  }

  /** The answers of a list, page by page: some say more than their items. */
  async pages<Path extends string, In, P extends Page<unknown>>(
    operation: DefinedOperation<Path, In, P>,
    input: AskedInput<Path, In>,
  ): Promise<P[]> {
    const pages: P[] = [];
    let cursor: string | undefined;
    do {
      const page = (await this.#asked(operation, { ...input, limit: this.pageSize, cursor })) as P;
      pages.push(page);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return pages;
  }

  /** An answer of many lines, some whole lines at a time. */
  async *lines<Path extends string, In>(
    operation: DefinedOperation<Path, In, unknown>,
    input: AskedInput<Path, In>,
  ): AsyncGenerator<string> {
    try {
      yield* this.askLines(operation, input);
    } catch (error) {
      throw await withCommandHint(asNexusError(error), this.#again, { ...input });
    }
  }

  /** The tenant that is meant where none is named: that of the key, or the default one. */
  async ownTenant(): Promise<string> {
    return (await this.call(getSession, {})).tenant;
  }

  /** The names of the tenants that the caller manages. */
  async managedTenants(): Promise<string[]> {
    const { tenant, allTenants } = await this.call(getSession, {});
    return allTenants ? (await this.list(TENANTS.listTenants, {})).map(({ name }) => name) : [tenant];
  }

  protected abstract readonly pageSize: number;
  protected abstract ask(operation: AnyOperation, input: object): Promise<unknown>;
  protected abstract askLines(operation: AnyOperation, input: object): AsyncGenerator<string>;

  async #asked(operation: AnyOperation, input: object): Promise<unknown> {
    try {
      return await this.ask(operation, input);
    } catch (error) {
      throw await withCommandHint(asNexusError(error), this.#again, { ...input });
    }
  }
}

/** Everything of a list at once: here, each page would be as much work as all of them. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Runs operations that a command asks for: all of them, or those that need nothing else than what it has. */
type RunsHere = Pick<OperationRunner<Services>, "run">;

interface LocalClientOptions {
  actor: Actor;
  signal: AbortSignal;
  again: string;
}

/** Does operations in this process. */
export class LocalClient extends OperationClient {
  protected readonly pageSize = ALL;
  readonly #runner: RunsHere;
  readonly #actor: Actor;
  readonly #signal: AbortSignal;

  constructor(runner: RunsHere, { actor, signal, again }: LocalClientOptions) {
    super(again);
    this.#runner = runner;
    this.#actor = actor;
    this.#signal = signal;
  }

  protected async *askLines(operation: AnyOperation, input: object): AsyncGenerator<string> {
    // Such an operation answers with its lines.
    yield* (await this.ask(operation, input)) as AsyncGenerator<string>;
  }

  protected ask(operation: AnyOperation, input: object): Promise<unknown> {
    return this.#runner.run(operation, {
      params: dividedInput(operation, input).params,
      identify: async () => this.#actor,
      read: async () => readHere(operation, input),
      call: () => ({ signal: this.#signal }),
      answer: ({ handle }) => handle(),
    });
  }
}

/** Throws what is not valid in an input, before anything is opened for it. */
export function requireValid<Path extends string, In>(
  operation: DefinedOperation<Path, In, unknown>,
  input: AskedInput<Path, In>,
): void {
  readHere(operation, input);
}

function readHere(operation: AnyOperation, input: object): object {
  const { params, rest } = dividedInput(operation, input);
  const isWhole = rest["limit"] === ALL;
  const given = isWhole ? { ...rest, limit: MAX_PAGE } : rest;
  const sent = operation.http.method === "GET" ? { query: given } : { body: given };
  const read = readInput(operation, { params, ...sent }, { network: false });
  return isWhole ? { ...read, limit: ALL } : read;
}

export interface GatewayClientOptions {
  /** Any address of the gateway: `https://gateway.example`. */
  url: string;
  key: string;
  signal: AbortSignal;
  /** How long an answer may take to begin. */
  timeoutMs?: number | undefined;
  again: string;
}

/** A gateway may have a million records to verify. */
const TIMEOUT_MS = 120_000;

/** Does operations at a gateway, through its REST API. */
export class GatewayClient extends OperationClient {
  protected readonly pageSize = MAX_PAGE;
  readonly #options: GatewayClientOptions;

  constructor(options: GatewayClientOptions) {
    super(options.again);
    this.#options = options;
  }

  protected async *askLines(operation: AnyOperation, input: object): AsyncGenerator<string> {
    const { target, response } = await this.#request(operation, input);
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

  protected async ask(operation: AnyOperation, input: object): Promise<unknown> {
    const { target, response } = await this.#request(operation, input);
    const value = parseJson(await response.text());
    if (response.ok) return value;
    throw failure(target, response.status, value);
  }

  async #request(operation: AnyOperation, input: object): Promise<{ target: URL; response: Response }> {
    if (operation.isLocal) throw notThroughGateway();
    const { url, key, signal, timeoutMs = TIMEOUT_MS } = this.#options;
    const { method, path } = operation.http;
    const { params, rest } = dividedInput(operation, input);
    const written = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ""));
    const target = new URL(`/api/v1${written}${method === "GET" ? queryText(rest) : ""}`, url);
    const body = method === "GET" || !operation.input ? undefined : JSON.stringify(rest);
    const headers = {
      authorization: `Bearer ${key}`,
      ...PLAIN_HINTS,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    // The key is not sent anywhere else.
    const request = { method, headers, redirect: "error" as const, ...(body === undefined ? {} : { body }) };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      return { target, response: await fetch(target, { ...request, signal: AbortSignal.any([signal, late.signal]) }) };
    } catch (error) {
      signal.throwIfAborted();
      throw late.signal.aborted ? noAnswer(target, timeoutMs) : unreachable(target, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function noAnswer({ origin }: URL, timeoutMs: number): NexusError {
  return new NexusError("TIMEOUT", `The gateway ${origin} did not answer within ${timeoutMs / 1_000} s`, {
    url: origin,
    hint: "Check that the address is that of a gateway, and that it is not overloaded. A longer time: --timeout 2m.",
  });
}

/** The members that are in the path, and the others. */
function dividedInput(operation: AnyOperation, input: object) {
  const names = new Set(pathNames(operation));
  const entries = Object.entries(input);
  const params = entries.flatMap(([name, value]) => (names.has(name) ? [[name, asText(value)] as const] : []));
  return {
    params: Object.fromEntries(params),
    rest: Object.fromEntries(entries.filter(([name]) => !names.has(name))) as Record<string, unknown>,
  };
}

/** The query of a request: `?a=b`, or nothing. */
function queryText(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, asText(value));
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
  const { detail, code, hint, errors } = value;
  const known = OTHER_CODES[code] ?? (code as ErrorCode);
  const invalid = Array.isArray(errors) ? errors.flatMap(invalidMember) : undefined;
  return new NexusError(known, detail, {
    url: origin,
    status,
    // How a key is sent is not the same for commands.
    hint: status === 401 ? KEY_HINT : typeof hint === "string" ? hint : undefined,
    ...(invalid ? { invalid } : {}),
  });
}

function invalidMember(value: unknown): InvalidMember[] {
  if (!isRecord(value) || typeof value["at"] !== "string" || typeof value["message"] !== "string") return [];
  const { at, message, hint } = value;
  return [{ at, message, ...(typeof hint === "string" ? { hint } : {}) }];
}

const KEY_HINT = `Put a valid key into the variable NEXUS_KEY. On the machine of the gateway, "nexus keys list" shows all keys.`;

function notThroughGateway(): NexusError {
  return new NexusError("DENIED", "This is only possible on the machine of the gateway", {
    hint: "Run the command there, without --gateway.",
    mayHaveReached: false,
  });
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

/** The names of the members that are in its path. */
function pathNames({ http: { path } }: AnyOperation<never, never>): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}
