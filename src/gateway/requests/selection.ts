import { NexusError } from "../../errors/nexus-error.ts";
import { ruledServer, unpublishedMajor } from "../../host/directory/access-target.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import { unknownNameWithAdvice } from "../../host/directory/unknown-name.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { Principal } from "../../server/core/principal.ts";
import type { Logger } from "../../text/logger.ts";
import type { PrincipalAccess } from "../access/principal-access.ts";
import { AggregateLists, type AggregateOptions } from "../lists/merged-lists.ts";
import type { ListedThings } from "../lists/listed-things.ts";
import {
  fullName,
  type NamedThing,
  type Own,
  resolveFullName,
  resolveFullUri,
  type ThingKind,
  type UnknownThing,
} from "../names/names.ts";
import type { GatewayExchange, View } from "../names/view.ts";
import type { CompiledSet } from "../sets/compiled-set.ts";
import type { CallRunner } from "../calls/upstream-call.ts";
import { Permits } from "./permits.ts";

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
  /** Undefined: things have their full names, and are shown as they are. */
  readonly set: CompiledSet | undefined;
  readonly #host: Host;

  constructor(access: PrincipalAccess, parts: SelectionParts, set?: CompiledSet) {
    const { host, listed, calls, logger } = parts;
    this.access = access;
    this.set = set;
    this.#host = host;
    const shape = set && { show: set.show.bind(set), maxTtlMs: SET_TTL_MS };
    this.lists = new AggregateLists({ ...parts, access, ...shape });
    this.permits = new Permits({ selection: this, listed, calls, logger });
  }

  sees(server: string, principal: Principal): boolean {
    return this.#host.find(server) !== undefined && this.access.sees(principal, server);
  }

  find(server: string, principal: Principal): ServerStatus | undefined {
    const found = this.#host.find(server);
    return found && this.access.sees(principal, server) ? found : undefined;
  }

  get(server: string, principal: Principal): ServerStatus {
    const found = this.find(server, principal);
    if (found) return found;
    const unpublished = this.sees(ruledServer(server), principal) ? unpublishedMajor(server) : undefined;
    if (unpublished !== undefined) {
      throw new NexusError("NAME_UNKNOWN", unpublished, { server, mayHaveReached: false });
    }
    const shown = this.lists.shownTo(principal).map(({ id }) => id);
    throw unknownNameWithAdvice("server", server, shown).with({ server });
  }

  /** What has this name at an endpoint of several servers, whether or not a caller may know of it. */
  resolve(kind: ThingKind, given: string): Own | undefined {
    if (this.set) return this.set.resolve(kind, given, (name) => this.#resolveFull(kind, name));
    return kind === "resource" ? this.#resolveFull(kind, given) : resolveFullName(given, this.#host.directory);
  }

  /** The name of a tool at an endpoint of this selection. */
  nameOf(view: View, server: string, own: string): string {
    if (view.kind === "one") return own;
    return this.set?.findItem(server, own)?.name ?? this.fullNameOf({ server, name: own });
  }

  /** The name of a tool or prompt at the endpoint of all servers. */
  fullNameOf({ server, name }: Pick<NamedThing, "server" | "name">): string {
    return fullName(this.#host.find(server)?.definition.prefix ?? server, name);
  }

  /** The error for a name that the caller may not know of. */
  unknown({ kind, given }: UnknownThing | NamedThing, by: NameUser): NexusError {
    return unknownNameWithAdvice(kind, by.called?.given ?? given, this.#candidates(kind, by));
  }

  /** Whether the server has earlier versions, with tools that it does not list any more. */
  hasEarlierTools(server: string): boolean {
    const reach = this.#host.directory.find(server)?.entry?.reach;
    return reach?.kind === "api" && reach.published !== undefined;
  }

  /** Names that a caller may have meant. None at the endpoint of one server: they are its own, and the caller was shown its list. */
  #candidates(kind: ThingKind, { endpoint: view, principal }: NameUser): string[] {
    if (view.kind === "one") return [];
    return this.lists.known(LIST_OF[kind], principal).map(({ name, uri }) => String(kind === "resource" ? uri : name));
  }

  #resolveFull(kind: ThingKind, given: string): Own | undefined {
    return kind === "resource"
      ? resolveFullUri(given, (id) => this.#host.find(id) !== undefined)
      : resolveFullName(given, this.#host.directory);
  }
}

/** Who used a name, and at which endpoint. */
type NameUser = Pick<GatewayExchange, "endpoint" | "principal" | "called">;
