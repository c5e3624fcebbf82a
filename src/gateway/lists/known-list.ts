import type { Client } from "../../client/client.ts";
import { newestResult } from "../../client/newest-form.ts";
import { readPages, usableItems } from "../../client/conversation/lists.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { VERSION_META } from "../../protocol/meta.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import type { LastList } from "../../host/definitions/last-lists.ts";
import type { ListHashes, Pins } from "../../host/definitions/pins.ts";
import { Freshness } from "./freshness.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import { offeredTools, type OfferedTools } from "./offered-tools.ts";
import { outwardItem, type Naming } from "../names/outward.ts";
import { natureOf } from "./server-nature.ts";
import { isSearched, WITH_SEARCHED } from "../../protocol/shown-tools.ts";
import { isRecord } from "../../json/is-record.ts";
import { listedTarget, nameOf } from "../access/narrowed.ts";
import type { AccessTarget } from "../../host/directory/access-target.ts";

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

export interface ListReadingOptions extends Naming {
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
