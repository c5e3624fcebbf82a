import type { AccessTarget } from "../../host/directory/access-target.ts";
import { readPages, usableItems } from "../../client/conversation/lists.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { SILENT } from "../../text/logger.ts";
import { sha256 } from "../../text/digest.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { GatewayExchange } from "../names/view.ts";
import type { CallRunner } from "../upstream/call-runner.ts";
import { CallerCapabilities } from "./capability-set.ts";
import type { Catalogs } from "./catalogs.ts";
import { ExpiringMap } from "../../async/expiring-map.ts";
import type { KnownList } from "./known-list.ts";
import { changeOf, type ListKind } from "../../protocol/list-kinds.ts";
import type { ListSet } from "./list-set.ts";
import { listedTarget, nameOf } from "../access/narrowed.ts";
import { offeredTools } from "./offered-tools.ts";
import { capabilitiesFor } from "../upstream/upstream-capabilities.ts";
import { principalKey } from "../../server/core/principal.ts";

/** The lists whose items are used by name: what they do not show cannot be used where there are rules. */
export type NamedList = "tools" | "prompts";

export interface ListedThingsOptions {
  catalogs: Catalogs;
  run: CallRunner["run"];
  /** What the caller's own process has in place of what everybody is shown, if there is such a thing. */
  ownList: (kind: ListKind, server: string, exchange: GatewayExchange) => Promise<KnownList> | undefined;
}

/** What one caller was shown of one server's list at that server's own endpoint. */
interface Shown {
  server: string;
  kind: NamedList;
  things: Map<string, AccessTarget>;
  /** All pages were read, and nothing was used since that could have changed them. */
  isWhole: boolean;
}

/** A page of a list as its server sent it. */
export interface NotedPage {
  items: readonly Params[];
  isLast: boolean;
}

/** How long a list that a caller was shown is believed. */
const BELIEVED_MS = 15_000;
/** Callers and servers of which that is remembered. */
const MAX_SHOWN = 1_000;
const MAX_THINGS = 20_000;

/**
 * How servers list what a caller wants to use. Rules judge a use by that, as they judge the list; a server may list the
 * same differently to callers that declare different things, so each way counts.
 */
export class ListedThings {
  readonly #options: ListedThingsOptions;
  readonly #shown = new ExpiringMap<Shown>(BELIEVED_MS, () => {});
  readonly #stop: () => void;

  constructor(options: ListedThingsOptions) {
    this.#options = options;
    this.#stop = options.catalogs.on(({ server, lists }) => {
      this.#shown.takeAll((shown) => shown.server === server && lists.includes(changeOf(shown.kind)));
    });
  }

  close(): void {
    this.#stop();
    this.#shown.takeAll();
  }

  /** Every way in which this caller can see it listed; none where it cannot. */
  async find(
    kind: NamedList,
    server: string,
    name: string,
    exchange: GatewayExchange,
  ): Promise<readonly AccessTarget[]> {
    if (exchange.endpoint.kind === "one") {
      const toCaller = await this.#findShown(kind, server, name, exchange);
      if (!toCaller) return [];
      const common = await this.findCommon(kind, server, name).catch(() => undefined);
      return common ? [toCaller, common] : [toCaller];
    }
    const common = await this.findCommon(kind, server, name);
    const own = await this.#options.ownList(kind, server, exchange)?.catch(() => undefined);
    const shown = own
      ? targetIn(kind, server, name, own.items)
      : await this.#findDeclared(name, { kind, server, exchange, common });
    return shown ? [shown, common ?? shown] : [];
  }

  /** As the host itself sees it listed. */
  async findCommon(kind: NamedList, server: string, name: string): Promise<AccessTarget | undefined> {
    return newestTarget(this.#options.catalogs.of(server).common, kind, server, name);
  }

  /** As any list that was shown has it: the host's own, or one for those who declare something. */
  async findAny(kind: NamedList, server: string, name: string): Promise<AccessTarget | undefined> {
    const common = await this.findCommon(kind, server, name);
    if (common) return common;
    const items = this.#options.catalogs
      .of(server)
      .known(kind)
      .flatMap((list) => list.items);
    return targetIn(kind, server, name, items);
  }

  /** As it is listed to those who declare what this caller does; as to everybody where that cannot be told. */
  async #findDeclared(
    name: string,
    {
      kind,
      server,
      exchange,
      common,
    }: { kind: NamedList; server: string; exchange: GatewayExchange; common: AccessTarget | undefined },
  ): Promise<AccessTarget | undefined> {
    const { caller, principal, signal } = exchange;
    const declared = new CallerCapabilities(caller);
    if (declared.isEmpty) return common;
    const catalog = this.#options.catalogs.of(server);
    const set = declared.of((await catalog.nature({ signal })).era);
    const lists = set && catalog.listsFor(set, principal);
    if (!lists) return common;
    try {
      return await newestTarget(lists, kind, server, name);
    } catch {
      return common;
    }
  }

  /** A page that a caller is shown at a server's own endpoint, before it is narrowed. */
  note(kind: ListKind, server: string, { items, isLast }: NotedPage, exchange: GatewayExchange): void {
    if (kind !== "tools" && kind !== "prompts") return;
    const isFirst = exchange.params["cursor"] === undefined;
    const before = isFirst ? undefined : this.#shown.get(keyOf(kind, server, exchange));
    const shown = before ?? { server, kind, things: new Map(), isWhole: false };
    shown.isWhole = isLast && (isFirst || before !== undefined);
    this.#keep(shown, items, exchange);
  }

  async #findShown(
    kind: NamedList,
    server: string,
    name: string,
    exchange: GatewayExchange,
  ): Promise<AccessTarget | undefined> {
    const shown = this.#shown.get(keyOf(kind, server, exchange));
    const found = shown?.things.get(name);
    if (shown?.isWhole && !found) return undefined;
    // The use may add what was not there before.
    if (shown) shown.isWhole = false;
    if (found) return found;
    const method = LIST_METHODS[kind];
    const { capabilities } = await this.#options.catalogs.of(server).nature({ signal: exchange.signal });
    if (!capabilities[changeOf(kind)]) return undefined;
    const asking = askingFor(method, exchange);
    const listed = await readPages(method, kind, (params = {}) =>
      this.#options.run({ server, method, params, exchange: asking }),
    );
    const all = usableItems(kind, listed, { server, logger: SILENT });
    const items = kind === "tools" ? offeredTools(all, () => {}).tools : all;
    const { things } = this.#keep({ server, kind, things: new Map(), isWhole: true }, items, exchange);
    return things.get(name);
  }

  #keep(shown: Shown, items: readonly Params[], exchange: GatewayExchange): Shown {
    const { kind, server, things } = shown;
    for (const item of items) {
      // Of a list without end no more is kept: what is beyond it is looked for, and refused where it is not found.
      if (things.size >= MAX_THINGS) {
        shown.isWhole = false;
        break;
      }
      const name = nameOf(kind, item);
      // Of two with one name the first one is offered.
      if (!things.has(name)) things.set(name, listedTarget(kind, server, item));
    }
    if (this.#shown.size >= MAX_SHOWN) this.#shown.takeOldest(() => true);
    this.#shown.set(keyOf(kind, server, exchange), shown);
    return shown;
  }
}

async function newestTarget(
  lists: ListSet,
  kind: NamedList,
  server: string,
  name: string,
): Promise<AccessTarget | undefined> {
  const known = await lists.current(kind);
  const found = targetIn(kind, server, name, known.items);
  if (found || known.freshness.isFresh) return found;
  // It may be newer than the list.
  return targetIn(kind, server, name, (await lists.read(kind).list).items);
}

function targetIn(kind: NamedList, server: string, name: string, items: readonly Params[]): AccessTarget | undefined {
  const item = items.find((each) => nameOf(kind, each) === name);
  return item && listedTarget(kind, server, item);
}

/** Calls with other capabilities may be shown other lists. */
function keyOf(kind: NamedList, server: string, { principal, caller }: GatewayExchange): string {
  const { owner, ask } = caller;
  // Callers choose what they declare, and how long it is.
  const declared = sha256(JSON.stringify(capabilitiesFor(caller)));
  return JSON.stringify([kind, server, principalKey(principal), owner, declared, ask !== undefined]);
}

/** The gateway's own question, on the caller's connection: its caller hears nothing of it. */
function askingFor(method: string, exchange: GatewayExchange): GatewayExchange {
  const silent = { logLevel: undefined, progressToken: undefined, pause: undefined };
  return { ...exchange, method, params: {}, caller: { ...exchange.caller, ...silent } };
}
