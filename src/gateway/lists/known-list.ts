import type { Client } from "../../client/client.ts";
import { newestResult } from "../../client/newest-form.ts";
import { readPages, usableItems } from "../../client/conversation/lists.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import type { Logger } from "../../text/logger.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import { VERSION_META } from "../../protocol/meta.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";
import type { ListHashes, Pins } from "../../host/definitions/pins.ts";
import { Freshness } from "./freshness.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import { offeredTools, type OfferedTools } from "./offered-tools.ts";
import { outwardItem, type Naming } from "../names/outward.ts";
import { natureOf } from "./server-nature.ts";

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
}

/** Reads a list over this connection, and compares it with what was accepted. */
export async function readKnownList(
  client: Client,
  kind: ListKind,
  { server, prefix, logger, pins, isCommon }: ListReadingOptions,
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
  const listed = await readPages(method, kind, async (params) => {
    const answer = await client.request(method, params);
    if (client.isInProcess) version = versionIn(answer);
    if (Array.isArray(answer[kind])) received.push(...(answer[kind] as unknown[]));
    const page = newestResult(client, method, answer);
    freshness.add(page);
    return page;
  });
  const hashes = await pins.compare({ server, kind, isCommon, items: received });
  const all = usableItems(kind, listed, { server, logger });
  const { tools: items, headers } = kind === "tools" ? offered(all) : { tools: all, headers: NO_HEADERS };
  const outward = items.map((item) => outwardItem(kind, item, { server, prefix }));
  return { items, outward, freshness, headers, hashes, version };

  function offered(tools: readonly Params[]): OfferedTools {
    return offeredTools(tools, (name, reason) => logger.warn(`tool "${name}" of "${server}" is skipped: ${reason}`));
  }
}

/** The state of the tools that a list shows. */
export function versionIn({ _meta }: Pick<Result, "_meta">): string | undefined {
  const version = _meta?.[VERSION_META];
  return typeof version === "string" ? version : undefined;
}
