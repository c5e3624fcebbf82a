import { LISTS } from "../../client/lists.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ServerStatus } from "../../host/host.ts";
import type { Logger } from "../../client/logger.ts";
import { isRecord, type Params, type Result } from "../../protocol/json-rpc.ts";
import type { Exchange } from "../exchange.ts";
import type { Access } from "./access.ts";
import type { CallRunner } from "./call-runner.ts";
import type { Catalogs } from "./catalogs.ts";
import type { Cursors } from "./cursors.ts";
import type { ListKind } from "./list-kind.ts";
import { narrowed } from "./narrowed.ts";
import { offeredTools, withoutExecution } from "./offered-tools.ts";

export interface PassedListsOptions {
  catalogs: Catalogs;
  run: CallRunner["run"];
  access: Access;
  cursors: Cursors;
  logger: Logger;
}

/** The lists of one server, as it gives them to the caller's own connection, page by page. */
export class PassedLists {
  readonly #options: PassedListsOptions;

  constructor(options: PassedListsOptions) {
    this.#options = options;
  }

  async page(kind: ListKind, status: ServerStatus, exchange: Exchange): Promise<Result> {
    const { cursors, run, catalogs } = this.#options;
    const position = cursors.open(exchange);
    const { method, capability } = LISTS[kind];
    const { capabilities, era } = await catalogs.of(status.id).nature(exchange.signal);
    if (!capabilities[capability]) throw notOffered(status.id, method);
    const params = position === undefined ? exchange.params : { ...exchange.params, cursor: position };
    const result = await run({ server: status.id, method, params, exchange });
    return this.#page(kind, result, { status, exchange, isLegacy: era === "legacy" });
  }

  #page(kind: ListKind, result: Result, { status, exchange, isLegacy }: PageContext): Result {
    const { access, cursors } = this.#options;
    const { member } = LISTS[kind];
    const listed = Array.isArray(result[member]) ? result[member].filter(isRecord) : [];
    const items = kind === "tools" ? this.#tools(listed, status.id, isLegacy) : listed;
    const shown = narrowed(kind, { items, outward: items }, { access, principal: exchange.principal, status });
    const { ttlMs, cacheScope, nextCursor } = result;
    const page: Result = {
      ...result,
      resultType: "complete",
      [member]: shown,
      ttlMs: typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0,
      cacheScope: cacheScope === "public" && access.isCommon ? "public" : "private",
    };
    if (typeof nextCursor === "string") page["nextCursor"] = cursors.seal(nextCursor, exchange);
    return page;
  }

  #tools(listed: readonly Params[], server: string, isLegacy: boolean): readonly Params[] {
    const { tools } = offeredTools(listed, (name, reason) =>
      this.#options.logger.debug(`tool "${name}" of "${server}" is left out: ${reason}`),
    );
    return isLegacy ? tools.map(withoutExecution) : tools;
  }
}

interface PageContext {
  status: ServerStatus;
  exchange: Exchange;
  isLegacy: boolean;
}

function notOffered(server: string, method: string): NexusError {
  return new NexusError("CAPABILITY_MISSING", `Server "${server}" does not offer ${method}`, {
    server,
    method,
    mayHaveReached: false,
  });
}
