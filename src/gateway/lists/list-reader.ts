import type { Client } from "../../client/client.ts";
import { newestCapabilities, newestResult, unstatedLifetimeMs } from "../../client/newest-form.ts";
import { readPages, usableItems } from "../../client/conversation/lists.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { VERSION_META } from "../../protocol/meta.ts";
import { paramHeadersOf, type ParamHeader } from "../../protocol/param-headers.ts";
import type { LastList } from "../../host/definitions/last-lists.ts";
import type { ListHashes, Pins } from "../../host/definitions/pins.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import { outwardItem, type Naming } from "../names/names.ts";
import { isSearched, WITH_SEARCHED } from "../../protocol/shown-tools.ts";
import { isRecord } from "../../json/is-record.ts";
import { listedTarget, nameOf } from "../access/narrowed.ts";
import type { AccessTarget } from "../../host/directory/access-target.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";

/** One list of one server with all its pages. */
export interface KnownList {
  /** As the server sent them, without those that clients would not accept. */
  readonly items: readonly Params[];
  /** The same in full names. */
  readonly outward: readonly Params[];
  readonly freshness: Freshness;
  /** For tools: the arguments that are also sent as headers. */
  readonly headers: ReadonlyMap<string, readonly ParamHeader[]>;
  /** The hashes of the definitions by name, as the server sent them. */
  readonly hashes: ListHashes;
  /** For the tools of an API: those that are found by searching. */
  readonly searched?: readonly AccessTarget[] | undefined;
  /** Identifies this state of the tools, where their server says so; only for one in this process. */
  readonly version?: string | undefined;
  /** For a list for certain capabilities: the items of the list for all at the time it was read. */
  readonly beside?: readonly Params[] | undefined;
}

const NO_HEADERS: KnownList["headers"] = new Map();

interface ListReadingOptions extends Naming {
  logger: Logger;
  pins: Pins;
  /** Whether it is the list for all, not one for certain capabilities or one caller. */
  isCommon: boolean;
  /** Whether the server is made of an API in this process. */
  isApi: boolean;
}

/** Reads a list over this connection, and compares it with what was accepted. */
export async function readKnownList(
  client: Client,
  kind: ListKind,
  { server, prefix, logger, pins, isCommon, isApi }: ListReadingOptions,
): Promise<KnownList> {
  const { capabilities, believedMs } = natureOf(client);
  const method = LIST_METHODS[kind];
  if (!capabilities[changeOf(kind)]) {
    const hashes = await pins.compare({ server, kind, isCommon, items: [] });
    return { items: [], outward: [], freshness: Freshness.ofNothing(), headers: NO_HEADERS, hashes };
  }
  const isTold = capabilities[changeOf(kind)]?.listChanged === true;
  const freshness = new Freshness({ isTold, believedMs });
  const received: unknown[] = [];
  let version: string | undefined;
  const asked = isApi && kind === "tools" ? WITH_SEARCHED : undefined;
  const all = await readPages(method, kind, async (params) => {
    const answer = await client.request(method, asked ? { ...params, ...asked } : params);
    if (client.isInProcess) version = versionIn(answer);
    if (Array.isArray(answer[kind])) received.push(...(answer[kind] as unknown[]));
    const page = newestResult(client, method, answer);
    freshness.add(page);
    return page;
  });
  const hashes = await pins.compare({ server, kind, isCommon, items: received });
  if (!asked) return { ...offeredItems(kind, all, { server, prefix, logger }), freshness, hashes, version };
  const listed = offeredItems(
    kind,
    all.filter((item) => !isSearched(item)),
    { server, prefix, logger },
  );
  const searched = all
    .filter((item): item is Params => isRecord(item) && isSearched(item))
    .map((item) => listedTarget(kind, server, item, hashes.get(nameOf(kind, item)), []));
  return { ...listed, freshness, hashes, version, searched };
}

/** A list as a server sent it some time ago, perhaps to an earlier process. */
export async function recallList(
  { items: received, at }: LastList,
  kind: ListKind,
  { server, prefix, pins }: Pick<ListReadingOptions, "server" | "prefix" | "pins">,
): Promise<KnownList> {
  const hashes = await pins.recall({ server, kind, items: received });
  // What older revisions have beyond the newest one is left out, whatever the server speaks.
  const { [kind]: listed } = newestResult({ era: "legacy" }, LIST_METHODS[kind], { [kind]: received });
  const freshness = Freshness.ofEarlier(Math.max(0, Date.now() - at));
  // What cannot be offered was logged when it was read.
  return { ...offeredItems(kind, listed as unknown[], { server, prefix, logger: SILENT }), freshness, hashes };
}

/** The items that can be offered to callers, also in full names. */
function offeredItems(
  kind: ListKind,
  listed: readonly unknown[],
  { server, prefix, logger }: Pick<ListReadingOptions, "server" | "prefix" | "logger">,
): Pick<KnownList, "items" | "outward" | "headers"> {
  const all = usableItems(kind, listed, { server, logger });
  const { tools: items, headers } = kind === "tools" ? offered(all) : { tools: all, headers: NO_HEADERS };
  return { items, outward: items.map((item) => outwardItem(kind, item, { server, prefix })), headers };

  function offered(tools: readonly Params[]): OfferedTools {
    return offeredTools(tools, (name, reason) => logger.warn(`tool "${name}" of "${server}" is skipped: ${reason}`));
  }
}

/** The state of the tools that a list shows. */
export function versionIn({ _meta }: Pick<Result, "_meta">): string | undefined {
  const version = _meta?.[VERSION_META];
  return typeof version === "string" ? version : undefined;
}

export type CacheScope = "public" | "private";

/** The age, lifetime and scope of a list. */
export class Freshness {
  readonly #readAt: number;
  readonly #isTold: boolean;
  readonly #believedMs: number;
  /** The shortest of all its pages. */
  #ttlMs = Infinity;
  #scope: CacheScope = "public";
  /** Whether the server reported a change or was restarted. */
  isOutdated = false;

  constructor({ isTold, believedMs, ageMs = 0 }: { isTold: boolean; believedMs: number; ageMs?: number }) {
    this.#readAt = performance.now() - ageMs;
    this.#isTold = isTold;
    this.#believedMs = believedMs;
  }

  /** For a list that the server does not have: it does not limit the lifetime of others. */
  static ofNothing(): Freshness {
    return new Freshness({ isTold: true, believedMs: 0 });
  }

  /** For a list that was read at an earlier time: the server may list something else now. */
  static ofEarlier(ageMs: number): Freshness {
    const freshness = new Freshness({ isTold: false, believedMs: 0, ageMs });
    freshness.expire();
    return freshness;
  }

  /** Adds one page of the list. */
  add({ ttlMs, cacheScope }: Result): void {
    this.#ttlMs = Math.min(this.#ttlMs, typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0);
    if (cacheScope !== "public") this.#scope = "private";
  }

  get scope(): CacheScope {
    return this.#scope;
  }

  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  /** How long callers may still keep the list. */
  get remainingMs(): number {
    return this.isOutdated ? 0 : Math.max(0, this.#ttlMs - this.ageMs);
  }

  /**
   * Whether it can be shown without asking the server. A server that reports changes is asked again only after a
   * report.
   */
  get isFresh(): boolean {
    if (this.isOutdated) return false;
    if (this.#ttlMs > 0) return this.remainingMs > 0;
    return this.#isTold || this.ageMs < this.#believedMs;
  }

  expire(): void {
    this.isOutdated = true;
  }
}

interface OfferedTools {
  tools: Params[];
  /** Only tools that have any. */
  headers: Map<string, readonly ParamHeader[]>;
}

/** The tools that can be offered to callers: one for each name, without those whose header annotations are invalid. */
export function offeredTools(all: readonly Params[], onLeftOut: (name: string, reason: string) => void): OfferedTools {
  const headers = new Map<string, readonly ParamHeader[]>();
  const names = new Set<string>();
  const tools = all.filter((tool) => {
    const { name } = tool;
    if (typeof name !== "string") return false;
    const asked = paramHeadersOf(tool["inputSchema"]);
    if (!asked.ok) {
      onLeftOut(name, asked.reason);
      return false;
    }
    if (names.has(name)) {
      onLeftOut(name, "another one has the same name");
      return false;
    }
    names.add(name);
    if (asked.headers.length > 0) headers.set(name, asked.headers);
    return true;
  });
  return { tools, headers };
}

/** What a server declared when it was connected. */
export type ServerNature = Pick<Client, "era" | "serverInfo" | "instructions"> & {
  /** In the form of the newest revision. */
  capabilities: ServerCapabilities;
  /** How long a list is used if the server neither said how long it stays valid nor reports its changes. */
  believedMs: number;
};

/** A server that was not asked may offer anything. */
const EVERYTHING: ServerCapabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };

export function natureOf(client: Client): ServerNature {
  const { era, serverInfo, instructions } = client;
  const capabilities = newestCapabilities(client) ?? EVERYTHING;
  return { era, serverInfo, instructions, capabilities, believedMs: unstatedLifetimeMs(client) };
}
