import { NexusError } from "../errors/nexus-error.ts";
import { ruledServer, unpublishedMajor } from "../host/directory/major-server.ts";
import type { Host, ServerStatus } from "../host/host.ts";
import { unknownNameWithAdvice } from "../host/directory/unknown-name.ts";
import type { ListKind } from "../protocol/list-kinds.ts";
import { ANYBODY, type Principal } from "../server/core/principal.ts";
import type { Logger } from "../text/logger.ts";
import type { PrincipalAccess } from "./access/principal-access.ts";
import { Permits } from "./calls/permits.ts";
import { AggregateLists, type AggregateOptions } from "./lists/aggregate-lists.ts";
import type { ListedThings } from "./lists/listed-things.ts";
import { fullName, resolveFullName, resolveFullUri, type Own } from "./names/names.ts";
import type { KnownNames, ThingKind } from "./names/target.ts";
import { EVERYTHING, type GatewayExchange, type View } from "./names/view.ts";
import type { CompiledSet } from "./sets/compiled-set.ts";
import type { CallRunner } from "./upstream/call-runner.ts";

/** What the selections of a core share. */
export interface SelectionParts extends Omit<AggregateOptions, "access" | "show" | "maxTtlMs"> {
  host: Host;
  listed: ListedThings;
  calls: CallRunner;
  logger: Logger;
}

const LIST_OF: Record<ThingKind, ListKind> = { tool: "tools", prompt: "prompts", resource: "resources" };

/** A set may be defined in another way at any time, and not every caller listens to changes. */
const SET_TTL_MS = 1_000;

/**
 * What endpoints show, under which names, and who may use it. There is one for everything of the host, whose servers are also
 * shown one by one, and one for each set. It never changes: a set that is defined in another way is another selection.
 */
export class Selection {
  readonly access: PrincipalAccess;
  /** The joined lists of its servers. */
  readonly lists: AggregateLists;
  readonly permits: Permits;
  /** Whether the server has earlier versions, with tools that it does not list any more. */
  readonly hasEarlierTools: (server: string) => boolean;
  /** Undefined: things have their full names, and are shown as they are. */
  readonly set: CompiledSet | undefined;
  readonly #host: Host;
  /** For callers that may know of every server. */
  readonly #openNames: KnownNames;

  constructor(access: PrincipalAccess, parts: SelectionParts, set?: CompiledSet) {
    const { host, listed, calls, logger } = parts;
    this.access = access;
    this.set = set;
    this.#host = host;
    const shape = set && { show: set.show.bind(set), maxTtlMs: SET_TTL_MS };
    this.lists = new AggregateLists({ ...parts, access, ...shape });
    const candidates = (kind: ThingKind, exchange: GatewayExchange) => this.candidates(kind, exchange);
    const hasEarlierTools = (this.hasEarlierTools = (server: string) => {
      const reach = host.directory.find(server)?.entry?.reach;
      return reach?.kind === "api" && reach.published !== undefined;
    });
    this.permits = new Permits({ access, listed, calls, candidates, hasEarlierTools, logger });
    this.#openNames = new SelectionNames(this, host, undefined);
  }

  find(server: string, principal: Principal): ServerStatus | undefined {
    const found = this.#host.find(server);
    return found && this.access.sees(principal, server) ? found : undefined;
  }

  get(server: string, principal: Principal): ServerStatus {
    const found = this.find(server, principal);
    if (found) return found;
    const unpublished = this.find(ruledServer(server), principal) && unpublishedMajor(server);
    if (unpublished !== undefined) {
      throw new NexusError("NAME_UNKNOWN", unpublished, { server, mayHaveReached: false });
    }
    const shown = this.lists.shownTo(principal).map(({ id }) => id);
    throw unknownNameWithAdvice("server", server, shown).with({ server });
  }

  /** The names that a caller may use. */
  namesFor(by: Caller): KnownNames {
    return this.access.showsAllServers ? this.#openNames : new SelectionNames(this, this.#host, by);
  }

  /** The name of a tool at an endpoint of this selection. */
  nameOf(view: View, server: string, own: string): string {
    if (view.kind === "one") return own;
    return this.set?.findItem(server, own)?.name ?? fullName(this.#host.find(server)?.definition.prefix ?? server, own);
  }

  /** What has this name, whether or not the caller may know of it. */
  findNamed(kind: ThingKind, given: string): Own | undefined {
    return this.#openNames.resolve(kind, given);
  }

  /** Names that a caller may have meant. None at the endpoint of one server: they are its own, and the caller was shown its list. */
  candidates(kind: ThingKind, { endpoint: view, principal }: Caller): string[] {
    if (view.kind === "one") return [];
    return this.lists.known(LIST_OF[kind], principal).map(({ name, uri }) => String(kind === "resource" ? uri : name));
  }
}

/** The names in a selection, of the servers that a caller may know of; without a caller, of all servers. */
class SelectionNames implements KnownNames {
  readonly #selection: Selection;
  readonly #host: Host;
  readonly #by: Caller | undefined;

  constructor(selection: Selection, host: Host, by: Caller | undefined) {
    this.#selection = selection;
    this.#host = host;
    this.#by = by;
  }

  resolve(kind: ThingKind, given: string): Own | undefined {
    const { set } = this.#selection;
    if (!set) return this.#resolveFull(kind, given);
    const own = set.resolve(kind, given, (name) => this.#resolveFull(kind, name));
    return own && this.#isServer(own.server) ? own : undefined;
  }

  candidates(kind: ThingKind): readonly string[] {
    return this.#selection.candidates(kind, this.#by ?? EVERYBODY);
  }

  #resolveFull(kind: ThingKind, given: string): Own | undefined {
    if (kind === "resource") return resolveFullUri(given, (id) => this.#isServer(id));
    return resolveFullName(given, (prefix) => {
      const server = this.#host.directory.findIdByPrefix(prefix);
      return server !== undefined && this.#sees(server) ? server : undefined;
    });
  }

  #isServer(id: string): boolean {
    return this.#host.find(id) !== undefined && this.#sees(id);
  }

  #sees(server: string): boolean {
    return this.#by === undefined || this.#selection.access.sees(this.#by.principal, server);
  }
}

type Caller = Pick<GatewayExchange, "endpoint" | "principal">;

const EVERYBODY: Caller = { endpoint: EVERYTHING, principal: ANYBODY };
