import { Live } from "../async/live.ts";
import { Turns } from "../async/turns.ts";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import type {
  DefinitionChange,
  DefinitionLedger,
  NamedDefinition,
  ReadList,
  Standing,
} from "../host/definitions/definition-ledger.ts";
import { reportedChanges, type KnownDefinitions } from "../host/definitions/known-definitions.ts";
import { SILENT, type Logger } from "../text/logger.ts";
import type { ChangeNotices } from "./change-notices.ts";
import type { Definitions } from "./keep/definitions.ts";

/**
 * A ledger in the store. The hashes of the servers that were compared are in memory: comparing a list that has not
 * changed needs no database, and what was compared stays decided while the database is away.
 */
export class StoredLedger implements DefinitionLedger {
  readonly keepsUnpinned: boolean;
  readonly #definitions: Definitions;
  readonly #changes: ChangeNotices;
  readonly #logger: Logger;
  readonly #servers = new Map<string, KnownDefinitions>();
  readonly #listeners = new Set<(server: string) => void>();
  readonly #turns = new Turns();
  #stop: Promise<() => void> | undefined;

  constructor(
    definitions: Definitions,
    changes: ChangeNotices,
    { logger = SILENT, keepsUnpinned = true }: { logger?: Logger | undefined; keepsUnpinned?: boolean } = {},
  ) {
    this.#definitions = definitions;
    this.#changes = changes;
    this.#logger = logger;
    this.keepsUnpinned = keepsUnpinned;
  }

  async compare(list: ReadList): Promise<DefinitionChange[]> {
    const { server } = list;
    const isAway = this.#changes.silentSince !== undefined;
    if (this.#isRecorded(list, { isAway })) return [];
    if (isAway) throw databaseAway();
    return this.#turns.run(async () => {
      await this.#load(server);
      // Another comparison may have recorded it while this one waited.
      if (this.#isRecorded(list)) return [];
      const { differences, known } = await this.#definitions.record(list);
      this.#servers.set(server, known);
      return reportedChanges(server, differences);
    });
  }

  load(server: string): Promise<void> {
    return this.#turns.run(() => this.#load(server));
  }

  standingOf(definition: NamedDefinition): Standing {
    return this.#servers.get(definition.server)?.standingOf(definition) ?? "unknown";
  }

  onAccepted(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#listen();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      void this.#stop?.then((stop) => stop());
      this.#stop = undefined;
    };
  }

  async #listen(): Promise<() => void> {
    const reading = new Live<void>(undefined, {
      changes: this.#changes.of("definitions"),
      read: () => this.#turns.run(() => this.#readAgain()),
      what: "accepted definitions",
      logger: this.#logger,
    });
    try {
      await reading.follow();
      return () => reading[Symbol.dispose]();
    } catch (error) {
      this.#logger.warn(`accepted definitions are noticed from the next start on: ${messageOf(error)}`);
      return () => {};
    }
  }

  /**
   * Whether nothing has to be written. What is held is looked up in the database: another process may have read the accepted
   * definition since then, for example from an older version of the server, and then the change could not be accepted.
   */
  #isRecorded(list: ReadList, { isAway = false } = {}): boolean {
    const known = this.#servers.get(list.server);
    if (!known || known.differences(list).length > 0) return false;
    return isAway || !list.isPinned || !known.hasWaiting(list);
  }

  async #load(server: string): Promise<void> {
    if (this.#servers.has(server)) return;
    const known = (await this.#definitions.load([server])).get(server);
    if (known) this.#servers.set(server, known);
  }

  /** Something was accepted: reads all hashes again. */
  async #readAgain(): Promise<void> {
    const read = await this.#definitions.load([...this.#servers.keys()]);
    for (const [server, now] of read) {
      const before = this.#servers.get(server);
      this.#servers.set(server, now);
      if (before && acceptedIn(before) !== acceptedIn(now)) for (const tell of this.#listeners) tell(server);
    }
  }
}

/** The same text while the same is accepted. */
function acceptedIn(known: KnownDefinitions): string {
  const accepted = known
    .all()
    .map(({ place: { kind, name, seenBy }, hashes }) => JSON.stringify([kind, name, seenBy, hashes.accepted]));
  return accepted.toSorted().join("\n");
}

function databaseAway(): NexusError {
  return new NexusError("STORE_UNAVAILABLE", "the database of the gateway is away", { mayHaveReached: false });
}
