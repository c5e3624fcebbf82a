import { NexusError } from "../../errors/nexus-error.ts";
import { METHOD_NOT_FOUND, type Params, type Result } from "../../protocol/json-rpc.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import { itemName, normaliseItem } from "../../protocol/listed-item.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../../protocol/mcp.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { weightOf } from "../../json/weight.ts";
import type { CallScope } from "./call-scope.ts";
import type { Conversation } from "./conversation.ts";
import type { Logger } from "../../text/logger.ts";
import type { ResponseCache } from "./response-cache.ts";

/** The lists as last read; cleared when the server reports a change. */
export interface KnownLists {
  tools?: Tool[];
  resources?: Resource[];
  resourceTemplates?: ResourceTemplate[];
  prompts?: Prompt[];
}

interface ListReading {
  conversation: Conversation;
  cache: ResponseCache;
  scope: CallScope;
  server: string;
  logger: Logger;
}

/** Reads all pages of a list. A list that the server does not declare is empty. */
export async function readList<K extends keyof KnownLists>(
  kind: K,
  { conversation, cache, scope, server, logger }: ListReading,
): Promise<{ list: Required<KnownLists>[K]; received: readonly unknown[] }> {
  const method = LIST_METHODS[kind];
  const declared = conversation.agreement.capabilities;
  if (declared && !declared[changeOf(kind)]) return { list: [], received: [] };
  const received = await readPages(method, kind, async (params) => {
    const cached = scope.options.fresh ? undefined : await cache.find(method, params);
    const ask = async () => ({ result: await conversation.exchange(method, params, scope), cacheable: true });
    const page = cached ?? (await cache.load(method, params, ask));
    scope.touch();
    return page;
  });
  return {
    list: usableItems(kind, received, { server, logger }) as unknown as Required<KnownLists>[K],
    received,
  };
}

/**
 * Items that every client accepts, in the same order. An item that cannot be repaired is left out with a warning; a
 * repaired item is logged as information with the data `repaired`.
 */
export function usableItems(
  kind: ListKind,
  items: readonly unknown[],
  { server, logger }: Pick<ListReading, "server" | "logger">,
): Params[] {
  const leftOut = new FirstFew();
  const repaired = new FirstFew();
  const usable: Params[] = [];
  for (const [index, value] of items.entries()) {
    const faults = new FirstFew();
    const item = normaliseItem(kind, value, (place, found) => faults.add(() => `${quoted(place)} ${faultOf(found)}`));
    if (item) usable.push(item);
    if (item === value) continue;
    const why = () => (faults.isEmpty ? faultOf(value) : faults.text);
    (item ? repaired : leftOut).add(() => `${nameOf(value, index)} (${why()})`);
  }
  const of = `${LIST_METHODS[kind]} of "${server}"`;
  if (!leftOut.isEmpty) logger.warn(`skipped in ${of}: ${leftOut.text}`);
  if (!repaired.isEmpty) logger.info(`repaired in ${of}: ${repaired.text}`, { repaired: true });
  return usable;
}

const MAX_NAME = 128;
const MAX_NAMED = 5;

/** Collects the first few of many texts and counts the rest: a server may have millions of faults. */
class FirstFew {
  readonly #first: string[] = [];
  #more = 0;

  get isEmpty(): boolean {
    return this.#first.length === 0;
  }

  add(write: () => string): void {
    if (this.#first.length < MAX_NAMED) this.#first.push(write());
    else this.#more++;
  }

  get text(): string {
    return this.#first.join(", ") + (this.#more > 0 ? ` and ${this.#more} more` : "");
  }
}

function nameOf(item: unknown, index: number): string {
  const name = itemName(item);
  return name === undefined ? `number ${index + 1}` : quoted(name);
}

/** The name comes from the server and may contain anything. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME));
}

function faultOf(value: unknown): string {
  if (value === undefined) return "is missing";
  if (value === "") return "is empty";
  return value === null ? "is null" : "is not valid";
}

/** Limits for one list, so that a list without end neither fills the memory nor is read forever. */
const MAX_PAGES = 2_000;
const MAX_ITEMS = 100_000;
/** Approximate memory. The last page is not counted, because a message has its own limit. */
const MAX_MEGABYTES = 64;
/** A cursor is sent back to the server. */
const MAX_CURSOR_LENGTH = 64 * 1024;
const MAX_MINUTES = 10;

/**
 * The items of all pages, within the limits. One capability covers resources and templates, so a server may lack the
 * method for one of them: that list is empty.
 */
export async function readPages(
  method: string,
  member: string,
  read: (params: Params | undefined) => Promise<Result>,
): Promise<unknown[]> {
  const items: unknown[] = [];
  const seen = new Set<unknown>();
  const startedAt = performance.now();
  let bytes = 0;
  for (let params: Params | undefined; ;) {
    const page = await read(params).catch((error: unknown) => {
      if (params === undefined && isMethodUnknown(error)) return { [member]: [] };
      throw error;
    });
    const found = page[member];
    if (!Array.isArray(found)) {
      throw new NexusError("PROTOCOL_VIOLATION", `The answer to ${method} has no "${member}"`, { raw: page });
    }
    for (const item of found as unknown[]) items.push(item);
    if (items.length > MAX_ITEMS) throw tooLong(`${method} returned more than ${MAX_ITEMS} items (limit)`);
    // An empty cursor is valid; only a missing one ends the list.
    const next = page["nextCursor"];
    if (typeof next !== "string") return items;
    if (next.length > MAX_CURSOR_LENGTH) {
      throw tooLong(`A cursor of ${method} has ${next.length} characters; the limit is ${MAX_CURSOR_LENGTH}`);
    }
    if (seen.has(next)) throw tooLong(`The server repeats a cursor of ${method}, so its list never ends`);
    seen.add(next);
    bytes += weightOf(page);
    const limit = limitReached({ pages: seen.size, bytes, ms: performance.now() - startedAt });
    if (limit !== undefined) throw tooLong(`${method} did not end after ${limit} (limit)`);
    params = { cursor: next };
  }
}

function isMethodUnknown(error: unknown): boolean {
  return error instanceof NexusError && error.details.rpc?.code === METHOD_NOT_FOUND;
}

function limitReached({ pages, bytes, ms }: { pages: number; bytes: number; ms: number }): string | undefined {
  if (pages >= MAX_PAGES) return `${MAX_PAGES} pages`;
  if (bytes > MAX_MEGABYTES * 1_000_000) return `${MAX_MEGABYTES} MB`;
  return ms > MAX_MINUTES * 60_000 ? `${MAX_MINUTES} minutes` : undefined;
}

function tooLong(message: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", message, {
    hint: "Update the server, or report it to its author: a list must end. Until then, disable the server.",
    mayHaveReached: true,
  });
}
